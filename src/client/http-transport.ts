import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { AccessError, type ClusterAccess, type Credentials } from './cluster-access.js';

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
  /** Resolves with the head; the body is still to be read or destroyed. */
  send(request: HttpRequest): Promise<IncomingMessage>;
  /** Ends all connections: what is under way fails, and so does what is sent after that. */
  close(): void;
}

const patience = { silenceMs: 60_000, keepAliveMs: 30_000 };

/** Connections to one server: kept, verified, and renewed when the credentials change. */
export function httpTransport(access: ClusterAccess, userAgent: string): HttpTransport {
  const base = URL.canParse(access.server) ? new URL(access.server) : undefined;
  if (base === undefined || !/^https?:$/.test(base.protocol)) {
    throw new AccessError(`${JSON.stringify(access.server)} is not the URL of a server`);
  }
  const secure = base.protocol === 'https:';
  const prefix = base.pathname.replace(/\/+$/, '');
  let agent: HttpAgent | HttpsAgent | undefined;
  let agentFor: Credentials = {};
  let closed: Error | undefined;
  /** How to end each request under way; they may be on connections of agents that were replaced. */
  const ending = new Set<(error: Error) => void>();

  const agentWith = (credentials: Credentials): HttpAgent | HttpsAgent => {
    const same = credentials.certificate === agentFor.certificate && credentials.key === agentFor.key;
    if (agent !== undefined && same) return agent;
    const kept = { keepAlive: true, keepAliveMsecs: patience.keepAliveMs, scheduling: 'lifo' as const };
    agentFor = credentials;
    // Requests under way keep their connections; those of the old agent close when they are idle.
    agent = secure
      ? new HttpsAgent({
          ...kept,
          rejectUnauthorized: access.insecure !== true,
          ...(access.ca === undefined ? {} : { ca: access.ca }),
          ...(access.serverName === undefined ? {} : { servername: access.serverName }),
          ...(credentials.certificate === undefined ? {} : { cert: credentials.certificate, key: credentials.key }),
        })
      : new HttpAgent(kept);
    return agent;
  };

  return {
    async send(given) {
      given.signal?.throwIfAborted();
      if (closed !== undefined) throw closed;
      const credentials = await access.credentials.current();
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
        const options = {
          agent: agentWith(credentials),
          method: given.method,
          headers,
          ...(given.signal === undefined ? {} : { signal: given.signal }),
        };
        const url = new URL(`${base.origin}${prefix}${given.path}`);
        let answer: IncomingMessage | undefined;
        const take = (head: IncomingMessage): void => {
          answer = head;
          resolve(head);
        };
        const request = secure ? httpsRequest(url, options, take) : httpRequest(url, options, take);
        const end = (error: Error): void => void (answer ?? request).destroy(error);
        ending.add(end);
        request.on('close', () => ending.delete(end));
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
      agent = undefined;
    },
  };
}

const listed = (headers: NonNullable<ClusterAccess['headers']>): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  );
