import { randomUUID } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { ApiError, untyped } from '../api/errors.js';
import { entitiesFor, quote } from '../api/go-text.js';
import { largeJson } from '../api/json-pieces.js';
import type { Query } from '../api/options.js';
import { maxRequestBytes } from '../api/request-size.js';
import { errorForm } from '../apiserver/negotiate.js';
import { isLongRunning } from '../apiserver/operations/in-flight.js';
import { passedHeader } from '../apiserver/passed-headers.js';
import { type Body, bodyOf, represent } from '../apiserver/represent.js';
import { type EventEncoder, eventEncoder } from '../apiserver/represent-event.js';
import type { ApiRequest, ApiResponse, Outcome, RequestBody, RequestInfo, WatchResult } from '../apiserver/request.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { TurnTaking } from '../runtime/turn-taking.js';
import { readBody } from './body.js';
import { Cancellation } from './cancellation.js';
import { type Exchange, headerText, type OutgoingHeaders } from './exchange.js';
import { decodePath, queryOf, routeOf, UnreadablePath, UnroutablePath } from './route.js';
import { writeWatch } from './watch-writer.js';

/** The REST facade: an exchange becomes an ApiRequest, the answer becomes bytes and headers. */

export interface FacadeParts {
  handle(request: ApiRequest): Promise<ApiResponse>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborted when the server stops: watches end, other requests go on. */
  readonly stopping: AbortSignal;
}

/** Answers larger than this are compressed for callers that accept it. */
const gzipAbove = 131_072;

export async function serve(parts: FacadeParts, exchange: Exchange): Promise<void> {
  const auditId = exchange.header('audit-id') || randomUUID();
  const cancellation = new Cancellation();
  exchange.onClosed(() => cancellation.abort());
  try {
    const request = new ReceivedRequest(exchange, auditId, cancellation);
    if (isLongRunning(request.info)) cancellation.endWith(parts.stopping);
    const response = await parts.handle(request);
    let outcome: Outcome = { code: 500, bytes: 0 };
    try {
      outcome = await answer(parts, exchange, request, response);
    } finally {
      response.settled?.(exchange.stuck ? { ...outcome, isAborted: true } : outcome);
    }
  } catch (error) {
    if (error instanceof UnroutablePath) {
      const text = `Internal Server Error: ${quote(exchange.url)}: failed to create RequestInfo: unable to determine kind and namespace from url, ${exchange.url}\n`;
      await exchange.send(
        500,
        { 'Audit-Id': auditId, 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
        bodyOf(Buffer.from(entitiesFor(text))),
      );
      return;
    }
    if (error instanceof UnreadablePath) {
      await exchange.send(400, { 'Content-Type': 'text/plain; charset=utf-8' }, bodyOf(Buffer.from('400 Bad Request')));
      return;
    }
    parts.log.error({ err: error, method: exchange.method, url: exchange.url }, 'answer failed');
    if (exchange.answered) exchange.cut();
    else {
      const status = JSON.stringify(untyped('the answer could not be written').toStatus());
      await exchange.send(
        500,
        { ...commonHeaders(auditId), 'Content-Type': 'application/json' },
        bodyOf(Buffer.from(status)),
      );
    }
  } finally {
    cancellation.release();
  }
}

type Credentials = Extract<ApiRequest['caller'], { readonly credentials: unknown }>['credentials'];

/** A request as it came over the network. */
class ReceivedRequest implements ApiRequest {
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
    this.query = queryOf(at < 0 ? '' : url.slice(at + 1));
    this.info = routeOf(method, path, this.query);
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
    return passedHeader(name, bytes && headerText(bytes));
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
    // Whatever it is, reading it will take a while.
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

/** Who asks for more headers than this asks for as many as there are. Up to there looking through them is cheaper than an index. */
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

/** What every answer about the API carries. */
const commonHeaders = (auditId: string): OutgoingHeaders => ({
  'Audit-Id': auditId,
  'Cache-Control': 'no-cache, private',
});

async function answer(
  parts: FacadeParts,
  exchange: Exchange,
  request: ReceivedRequest,
  response: ApiResponse,
): Promise<Outcome> {
  const { result, representation, until } = response;
  const headers: OutgoingHeaders = Object.assign(commonHeaders(request.auditId), response.headers);
  if (response.warnings.length > 0) headers['Warning'] = warningHeaders(response.warnings);
  if (isLast(parts, exchange, response)) exchange.last();
  switch (result.type) {
    case 'text': {
      const bytes = Buffer.from(result.text);
      const type = 'text/plain; charset=utf-8';
      const textHeaders = { ...headers, 'Content-Type': type, 'Content-Length': bytes.length, ...result.headers };
      await exchange.send(result.code, textHeaders, bodyOf(bytes), until);
      return { code: result.code, bytes: bytes.length };
    }
    case 'bytes': {
      const { code, bytes, contentType, compressible = false } = result;
      // What the caller has already is of the type it was.
      if (contentType !== undefined && code !== 304) headers['Content-Type'] = contentType;
      Object.assign(headers, result.headers);
      return { code, bytes: await send(exchange, code, headers, bodyOf(bytes), { until, compressible }) };
    }
    case 'watch': {
      const contentType =
        representation.mediaType === 'protobuf'
          ? 'application/vnd.kubernetes.protobuf;stream=watch'
          : 'application/json';
      const { webSocket } = exchange;
      if (webSocket?.refusal !== undefined) {
        const { code, headers: more, text } = webSocket.refusal;
        const bytes = Buffer.from(text);
        await exchange.send(code, { ...more, 'Content-Length': bytes.length }, bodyOf(bytes), until);
        return { code, bytes: bytes.length };
      }
      if (exchange.method === 'HEAD') {
        await exchange.send(200, { ...headers, 'Content-Type': contentType }, bodyOf(Buffer.alloc(0)), until);
        return { code: 200, bytes: 0 };
      }
      const encode = await eventEncoder(result.definition, representation, () => parts.clock.now());
      const out =
        (await webSocket?.accept({ binary: representation.mediaType === 'protobuf' })) ??
        exchange.stream(200, { ...headers, 'Content-Type': contentType });
      await writeWatch(result, told(encode, result), out, { cut: () => exchange.cut(), clock: parts.clock });
      return { code: webSocket === undefined ? 200 : 101, bytes: 0 };
    }
    default: {
      const { code, contentType, body } = await represented(parts, request, response);
      headers['Content-Type'] = contentType;
      return { code, bytes: await send(exchange, code, headers, body, { until }) };
    }
  }
}

/** Does the connection end with this answer? That of a caller nobody knows only if it can carry many at a time. */
const isLast = ({ stopping }: FacadeParts, { version }: Exchange, { unknownCaller }: ApiResponse): boolean =>
  stopping.aborted || (version === 2 && unknownCaller === true);

/** The encoder, and whoever counts events told of each. */
function told(encode: EventEncoder, { sent }: WatchResult): EventEncoder {
  if (sent === undefined) return encode;
  return (item) => {
    const bytes = encode(item);
    const counted = (made: Buffer): Buffer => {
      sent(item, made.length);
      return made;
    };
    if (bytes instanceof Promise) return bytes.then(counted);
    return bytes && counted(bytes);
  };
}

/** A refusal to put the answer into the form asked for is itself an answer. */
async function represented(parts: FacadeParts, request: ApiRequest, { result, representation }: ApiResponse) {
  if (result.type === 'text' || result.type === 'bytes' || result.type === 'watch')
    throw new Error('has no body to represent');
  const now = parts.clock.now();
  try {
    return await represent(result, representation, now);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const form = errorForm(request.header('accept'), request.query, request.header('user-agent'));
    return represent({ type: 'object', code: error.code, object: error.toStatus() }, form, now);
  }
}

/** Answers how many bytes it was. */
function send(
  exchange: Exchange,
  code: number,
  headers: OutgoingHeaders,
  body: Body,
  { until, compressible = true }: { readonly until: number | undefined; readonly compressible?: boolean },
): number | Promise<number> {
  const { length } = body;
  if (compressible && length > gzipAbove && acceptsGzip(exchange.header('accept-encoding'))) {
    return sendCompressed(exchange, code, headers, body, until);
  }
  // A document that the caller has is not without length.
  if (code !== 304) headers['Content-Length'] = length;
  return exchange.send(code, headers, body, until)?.then(() => length) ?? length;
}

/** Answers how many bytes were sent. Compressed elsewhere, and no more at a time than the reader takes. */
export async function sendCompressed(
  exchange: Exchange,
  code: number,
  headers: OutgoingHeaders,
  { chunks }: Body,
  until?: number,
): Promise<number> {
  let length = 0;
  const compressed = pipeline(Readable.from(chunks), createGzip({ level: 1 }), () => {});
  async function* counted(): AsyncGenerator<Buffer, void> {
    for await (const chunk of compressed as AsyncIterable<Buffer>) {
      length += chunk.length;
      yield chunk;
    }
  }
  const more = { 'Content-Encoding': 'gzip' };
  await exchange.send(code, { Vary: 'Accept-Encoding', ...headers, ...more }, { chunks: counted() }, until);
  return length;
}

/** With a weight, be it `q=0`, gzip does not count, as in Kubernetes. */
const acceptsGzip = (header: string | undefined): boolean =>
  header?.split(',').some((part) => part.trim() === 'gzip') ?? false;

const warningBudget = 4_096;
const shortened = 256;

/** `299 - "<text>"` each; if together they are too long, each is cut, and what is too much even so is left out. RFC 7234 section 5.5. */
function warningHeaders(texts: readonly string[]): readonly string[] {
  let total = 0;
  const tooMuch = texts.findIndex((text) => {
    total += [...text].length;
    return total > warningBudget;
  });
  let told = 0;
  const cut = (text: string, at: number): readonly string[] => {
    if (at > tooMuch && told >= warningBudget) return [];
    const kept = [...text].slice(0, shortened);
    told += kept.length;
    return [kept.join('')];
  };
  return (tooMuch < 0 ? texts : texts.flatMap(cut))
    .map((text) => `299 - "${text.replace(/[\\"]/g, '\\$&')}"`)
    .map((text) => Buffer.from(text, 'utf8').toString('latin1'));
}
