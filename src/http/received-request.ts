import { largeJson } from '../api/json-pieces.js';
import type { Query } from '../api/options.js';
import { maxRequestBytes } from '../api/request-size.js';
import type { ApiRequest, RequestBody, RequestInfo } from '../apiserver/request.js';
import { withoutCredentials } from '../apiserver/without-credentials.js';
import { TurnTaking } from '../runtime/turn-taking.js';
import { readBody } from './body.js';
import type { Cancellation } from './cancellation.js';
import type { Exchange } from './exchange.js';
import { headerText } from './header-text.js';
import { decodePath, parseQuery, parseRequestInfo } from './request-info.js';

type Credentials = Extract<ApiRequest['caller'], { readonly credentials: unknown }>['credentials'];

/** A request that came over the network. */
export class ReceivedRequest implements ApiRequest {
  readonly info: RequestInfo;
  readonly method: string;
  readonly query: Query;
  readonly uri: string;
  readonly caller: { readonly credentials: Credentials };
  readonly auditId: string;
  readonly remoteAddress: string;
  record: ApiRequest['record'];
  latencies: ApiRequest['latencies'];
  readonly #exchange: Exchange;
  readonly #cancellation: Cancellation;
  #body: Promise<RequestBody> | undefined;
  #endReading: (() => void) | undefined;

  constructor(exchange: Exchange, auditId: string, cancellation: Cancellation) {
    const { url, method } = exchange;
    const at = url.indexOf('?');
    const path = decodePath(at < 0 ? url : url.slice(0, at));
    this.query = parseQuery(at < 0 ? '' : url.slice(at + 1));
    this.info = parseRequestInfo(method, path, this.query);
    this.method = method;
    this.uri = url;
    this.caller = { credentials: new ReceivedCredentials(exchange, path) };
    this.auditId = auditId;
    this.remoteAddress = exchange.peer.address;
    this.#exchange = exchange;
    this.#cancellation = cancellation;
  }

  header(name: string): string | undefined {
    const bytes = this.#exchange.header(name);
    return withoutCredentials(name, bytes && headerText(bytes));
  }

  body(): Promise<RequestBody> {
    this.#body ??= this.#read();
    return this.#body;
  }

  async #read(): Promise<RequestBody> {
    const { body } = this.#exchange;
    const bytes = await readBody(body, this.#exchange.header('content-length'), maxRequestBytes, (giveUp) => {
      this.#endReading = giveUp;
    });
    // A large body takes a while to parse, whatever its content.
    if (bytes.length >= largeJson) await new TurnTaking().next();
    return { bytes, contentType: this.#exchange.header('content-type') };
  }

  get signal(): AbortSignal {
    return this.#cancellation.signal;
  }

  abandon(): void {
    this.#cancellation.abort();
    this.#endReading?.();
  }
}

/**
 * Up to this number of look-ups, scanning the headers is cheaper than an index. A caller that makes more usually looks
 * up all headers.
 */
const fewQuestions = 16;

class ReceivedCredentials implements Credentials {
  readonly path: string;
  readonly certificates: readonly Buffer[];
  readonly #rawHeaders: readonly string[];
  #questions = 0;
  #index: ReadonlyMap<string, readonly string[]> | undefined;

  constructor(exchange: Exchange, path: string) {
    this.path = path;
    this.certificates = exchange.peer.certificates;
    this.#rawHeaders = exchange.rawHeaders;
  }

  header(name: string): readonly string[] {
    if (this.#index === undefined && ++this.#questions <= fewQuestions) return valuesOf(this.#rawHeaders, name);
    this.#index ??= byName(this.#rawHeaders);
    return this.#index.get(name) ?? [];
  }

  headerNames(): readonly string[] {
    return namesOf(this.#rawHeaders);
  }
}

function valuesOf(rawHeaders: readonly string[], name: string): readonly string[] {
  const found: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.length === name.length && rawHeaders[i]?.toLowerCase() === name)
      found.push(headerText(rawHeaders[i + 1] ?? ''));
  }
  return found;
}

function byName(rawHeaders: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const index = new Map<string, string[]>();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]?.toLowerCase() ?? '';
    const value = headerText(rawHeaders[i + 1] ?? '');
    const values = index.get(name);
    if (values === undefined) index.set(name, [value]);
    else values.push(value);
  }
  return index;
}

function namesOf(rawHeaders: readonly string[]): readonly string[] {
  const names = new Set<string>();
  for (let i = 0; i < rawHeaders.length; i += 2) names.add(rawHeaders[i]?.toLowerCase() ?? '');
  return [...names];
}
