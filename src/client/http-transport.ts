import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { raceAbort } from '../runtime/abort.js';
import { AccessError, type ClientCredentials, type ClusterAccess } from './cluster-access.js';
import { serverVerification } from './server-verification.js';

/**
 * The maximum number of bytes of response headers, as in Go's client. Their number (`maxHeadersCount`) is not limited,
 * because Node.js silently drops headers beyond that limit.
 */
export const maxResponseHeaders = 10 * 1_048_576;

/** The media type of request bodies and of requested responses. */
export const jsonMediaType = 'application/json';

/** A request over a kept-alive connection. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query, below the server's own path. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
  /**
   * How long the connection may be silent. Default: a minute; `Infinity` for watches, because some proxies delay even
   * the headers.
   */
  readonly silenceMs?: number;
}

export interface HttpTransport {
  /** Returns the URL of a path below the server's base path. */
  urlOf(path: string): string;
  /**
   * Resolves once the headers have arrived; the body must be read or destroyed. Also returns the credentials that were
   * presented.
   */
  send(request: HttpRequest): Promise<{ readonly answer: IncomingMessage; readonly presented: ClientCredentials }>;
  /** Ends all connections: requests in progress and later ones fail. */
  close(): void;
}

const patience = { silenceMs: 60_000, keepAliveMs: 30_000 };

/** Returns the connections to one server: kept alive, verified, and replaced when the credentials change. */
export function httpTransport(access: ClusterAccess, userAgent: string): HttpTransport {
  const base = URL.canParse(access.server) ? new URL(access.server) : undefined;
  if (base === undefined || !/^https?:$/.test(base.protocol)) {
    throw new AccessError(`${JSON.stringify(access.server)} is not the URL of a server`);
  }
  return new Transport(access, base, userAgent);
}

class Transport implements HttpTransport {
  readonly #access: ClusterAccess;
  readonly #userAgent: string;
  /** The base path of the server. */
  readonly #base: string;
  readonly #request: typeof httpRequest;
  readonly #agents: Agents;
  #closed: Error | undefined;
  /** The functions that end each request in progress, which may be on connections of a replaced agent. */
  readonly #ending = new Set<(error: Error) => void>();

  constructor(access: ClusterAccess, base: URL, userAgent: string) {
    const isSecure = base.protocol === 'https:';
    this.#access = access;
    this.#userAgent = userAgent;
    this.#base = `${base.origin}${base.pathname.replace(/\/+$/, '')}`;
    this.#request = isSecure ? httpsRequest : httpRequest;
    this.#agents = new Agents(
      isSecure ? (credentials) => secureAgent(access, credentials) : () => new HttpAgent(agentOptions),
    );
  }

  urlOf(path: string): string {
    return `${this.#base}${path}`;
  }

  async send(request: HttpRequest): ReturnType<HttpTransport['send']> {
    request.signal?.throwIfAborted();
    if (this.#closed !== undefined) throw this.#closed;
    // Fetching credentials, for example from an exec plugin, may take longer than the caller waits.
    const presented = await raceAbort(request.signal, this.#access.credentials.current());
    if (this.#closed !== undefined) throw this.#closed;
    return { answer: await this.#sendWith(presented, request), presented };
  }

  #sendWith(credentials: ClientCredentials, outgoing: HttpRequest): Promise<IncomingMessage> {
    const headers: Record<string, string | string[]> = {
      'user-agent': this.#userAgent,
      ...headerLists(this.#access.headers ?? {}),
      ...outgoing.headers,
      ...(credentials.authorization === undefined ? {} : { authorization: credentials.authorization }),
      ...(outgoing.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(outgoing.body)) }),
    };
    return new Promise((resolve, reject) => {
      const silenceMs = outgoing.silenceMs ?? patience.silenceMs;
      const agent = this.#agents.with(credentials);
      const options = {
        agent,
        method: outgoing.method,
        headers,
        maxHeaderSize: maxResponseHeaders,
        ...(outgoing.signal === undefined ? {} : { signal: outgoing.signal }),
      };
      let answer: IncomingMessage | undefined;
      const request = this.#request(new URL(this.urlOf(outgoing.path)), options, (head) => {
        answer = head;
        resolve(head);
      });
      request.maxHeadersCount = 0;
      const end = (error: Error): void => void (answer ?? request).destroy(error);
      this.#ending.add(end);
      this.#agents.began(agent);
      request.on('close', () => {
        this.#ending.delete(end);
        this.#agents.ended(agent);
      });
      if (Number.isFinite(silenceMs)) {
        request.setTimeout(silenceMs, () => end(new Error(`the server was silent for ${silenceMs} ms`)));
      }
      request.on('socket', (socket) => socket.setKeepAlive(true, patience.keepAliveMs));
      request.on('error', reject);
      request.end(outgoing.body);
    });
  }

  close(): void {
    this.#closed ??= new Error('the client was closed');
    for (const end of this.#ending) end(this.#closed);
    this.#agents.close();
  }
}

type KeptAgent = HttpAgent | HttpsAgent;
const agentOptions = { keepAlive: true, keepAliveMsecs: patience.keepAliveMs, scheduling: 'lifo' } as const;

const secureAgent = (access: ClusterAccess, { certificate, key }: ClientCredentials): HttpsAgent =>
  new HttpsAgent({
    ...agentOptions,
    rejectUnauthorized: access.insecure !== true,
    ...serverVerification(access),
    ...(certificate === undefined ? {} : { cert: certificate, key }),
  });

/** The current agent, and those with earlier credentials, which are closed after their last request. */
class Agents {
  readonly #make: (credentials: ClientCredentials) => KeptAgent;
  #current: { readonly agent: KeptAgent; readonly credentials: ClientCredentials } | undefined;
  /** The number of requests in progress with each agent. */
  readonly #running = new Map<KeptAgent, number>();

  constructor(make: (credentials: ClientCredentials) => KeptAgent) {
    this.#make = make;
  }

  with(credentials: ClientCredentials): KeptAgent {
    const before = this.#current;
    if (
      before !== undefined &&
      before.credentials.certificate === credentials.certificate &&
      before.credentials.key === credentials.key
    ) {
      return before.agent;
    }
    const agent = this.#make(credentials);
    this.#current = { agent, credentials };
    if (before !== undefined && !this.#running.has(before.agent)) before.agent.destroy();
    return agent;
  }

  began(agent: KeptAgent): void {
    this.#running.set(agent, (this.#running.get(agent) ?? 0) + 1);
  }

  ended(agent: KeptAgent): void {
    const remaining = (this.#running.get(agent) ?? 0) - 1;
    if (remaining > 0) this.#running.set(agent, remaining);
    else {
      this.#running.delete(agent);
      if (agent !== this.#current?.agent) agent.destroy();
    }
  }

  close(): void {
    this.#current?.agent.destroy();
    for (const agent of this.#running.keys()) agent.destroy();
    this.#current = undefined;
  }
}

const headerLists = (headers: NonNullable<ClusterAccess['headers']>): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  );
