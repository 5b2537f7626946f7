import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { beforeAbort } from '../runtime/abort.js';
import { AccessError, type ClusterAccess, type Credentials } from './cluster-access.js';

/**
 * Most bytes of an answer's headers, for whomever is asked: as many as Go's client reads. Their number is not limited besides
 * (`maxHeadersCount`): Node passes over what is beyond its own limit without a word.
 */
export const maxAnswerHeaders = 10 * 1_048_576;

/** One request over a kept connection. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query, below the server's own path. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
  /** How long the connection may be silent. Absent: a minute; `Infinity` for watches. */
  readonly silenceMs?: number;
}

export interface HttpTransport {
  /** Where a path below the server's own leads. */
  urlOf(path: string): string;
  /** Resolves with the head, whose body is still to be read or destroyed, and with what was presented. */
  send(request: HttpRequest): Promise<{ readonly answer: IncomingMessage; readonly presented: Credentials }>;
  /** Ends all connections: what is under way fails, and so does what is sent after that. */
  close(): void;
}

const patience = { silenceMs: 60_000, keepAliveMs: 30_000 };

type KeptAgent = HttpAgent | HttpsAgent;

/** Connections to one server: kept, verified, and renewed when the credentials change. */
export function httpTransport(access: ClusterAccess, userAgent: string): HttpTransport {
  const base = URL.canParse(access.server) ? new URL(access.server) : undefined;
  if (base === undefined || !/^https?:$/.test(base.protocol)) {
    throw new AccessError(`${JSON.stringify(access.server)} is not the URL of a server`);
  }
  const secure = base.protocol === 'https:';
  const prefix = base.pathname.replace(/\/+$/, '');
  let agent: KeptAgent | undefined;
  let agentFor: Credentials = {};
  /** How many requests are under way with each; those of credentials of before end with their last one. */
  const running = new Map<KeptAgent, number>();
  let closed: Error | undefined;
  /** How to end each request under way; they may be on connections of agents that were replaced. */
  const ending = new Set<(error: Error) => void>();

  const count = (one: KeptAgent, change: 1 | -1): void => {
    const left = (running.get(one) ?? 0) + change;
    if (left > 0) running.set(one, left);
    else running.delete(one);
    if (left <= 0 && one !== agent) one.destroy();
  };

  const agentWith = (credentials: Credentials): KeptAgent => {
    const same = credentials.certificate === agentFor.certificate && credentials.key === agentFor.key;
    if (agent !== undefined && same) return agent;
    const before = agent;
    const kept = { keepAlive: true, keepAliveMsecs: patience.keepAliveMs, scheduling: 'lifo' as const };
    agentFor = credentials;
    agent = secure
      ? new HttpsAgent({
          ...kept,
          rejectUnauthorized: access.insecure !== true,
          ...(access.ca === undefined ? {} : { ca: access.ca }),
          ...(access.serverName === undefined ? {} : { servername: access.serverName }),
          ...(credentials.certificate === undefined ? {} : { cert: credentials.certificate, key: credentials.key }),
        })
      : new HttpAgent(kept);
    if (before !== undefined && !running.has(before)) before.destroy();
    return agent;
  };

  const urlOf = (path: string): string => `${base.origin}${prefix}${path}`;
  return {
    urlOf,
    async send(given) {
      given.signal?.throwIfAborted();
      if (closed !== undefined) throw closed;
      // To find out what to present may take longer than anybody waits.
      const credentials = await beforeAbort(given.signal, access.credentials.current());
      if (closed !== undefined) throw closed;
      const headers: Record<string, string | string[]> = {
        'user-agent': userAgent,
        ...listed(access.headers ?? {}),
        ...given.headers,
        ...(credentials.authorization === undefined ? {} : { authorization: credentials.authorization }),
        ...(given.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(given.body)) }),
      };
      return new Promise((resolve, reject) => {
        const silenceMs = given.silenceMs ?? patience.silenceMs;
        const through = agentWith(credentials);
        const options = {
          agent: through,
          method: given.method,
          headers,
          maxHeaderSize: maxAnswerHeaders,
          ...(given.signal === undefined ? {} : { signal: given.signal }),
        };
        const url = new URL(urlOf(given.path));
        let answer: IncomingMessage | undefined;
        const take = (head: IncomingMessage): void => {
          answer = head;
          resolve({ answer: head, presented: credentials });
        };
        const request = secure ? httpsRequest(url, options, take) : httpRequest(url, options, take);
        request.maxHeadersCount = 0;
        const end = (error: Error): void => void (answer ?? request).destroy(error);
        ending.add(end);
        count(through, 1);
        request.on('close', () => {
          ending.delete(end);
          count(through, -1);
        });
        if (Number.isFinite(silenceMs)) {
          request.setTimeout(silenceMs, () => request.destroy(new Error(`the server was silent for ${silenceMs} ms`)));
        }
        request.on('socket', (socket) => socket.setKeepAlive(true, patience.keepAliveMs));
        request.on('error', reject);
        request.end(given.body);
      });
    },
    close() {
      closed ??= new Error('the client was closed');
      for (const end of ending) end(closed);
      agent?.destroy();
      for (const one of running.keys()) one.destroy();
      agent = undefined;
    },
  };
}

const listed = (headers: NonNullable<ClusterAccess['headers']>): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  );
