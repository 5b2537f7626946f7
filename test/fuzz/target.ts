import { X509Certificate } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2';
import { Agent, request as httpsRequest } from 'node:https';
import { Readable, Writable } from 'node:stream';
import { connect as connectTls, createSecureContext } from 'node:tls';
import { readYaml } from '../../src/api/yaml.js';
import type { ApiRequest } from '../../src/apiserver/request.js';
import { openServer, type Server } from '../../src/embed.js';
import type { Exchange } from '../../src/http/exchange.js';
import { handleExchange } from '../../src/http/handle-exchange.js';
import { systemClock } from '../../src/runtime/clock.js';
import type { Logger } from '../../src/runtime/logger.js';
import type { ServerOptions } from '../../src/server/options.js';
import type { FuzzAnswer } from './judge.js';
import type { FuzzRequest } from './request.js';

/** A server under attack: called in process, over HTTP/1.1, over HTTP/2, and with arbitrary bytes. */
export interface Target {
  readonly server: Server;
  /** Sends a request through the whole pipeline, without a socket. */
  ask(request: FuzzRequest): Promise<FuzzAnswer>;
  /**
   * Sends a request over a kept-alive connection; resolves with undefined if it cannot be sent or the server ended the
   * connection.
   */
  http1(request: FuzzRequest): Promise<FuzzAnswer | undefined>;
  http2(request: FuzzRequest): Promise<FuzzAnswer | undefined>;
  /** Sends these bytes over a new connection, which is then dropped. */
  bytes(bytes: Buffer, protocol: 'h2' | 'http/1.1'): Promise<void>;
  /** Keeps these watches open as long as the server runs; those that have ended are started again. */
  follow(watches: readonly FuzzRequest[]): void;
  /** Returns the errors logged since the last call. */
  loggedErrors(): readonly string[];
  stop(): Promise<void>;
}

/** How long a watch is kept open. */
const glanceMs = 5;
/** How long a watch over a socket is kept open; it takes longer to start. */
const socketGlanceMs = 30;

export async function openTarget(options: ServerOptions): Promise<Target> {
  const errors: string[] = [];
  const log = recorder(errors);
  const opened = await openServer({ ...options, log, listen: { port: 0 }, graceMs: 2_000 });
  const { server } = opened;
  const { certificate, key } = await credentialsOf(server);
  const der = new X509Certificate(certificate).raw;
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  const parts = {
    handle: (request: ApiRequest) => opened.handle(request),
    clock: systemClock,
    log,
    stopping: stopping.signal,
  };

  const ask = async (request: FuzzRequest): Promise<FuzzAnswer> => {
    const { exchange, answer } = inProcess(request, [der]);
    await handleExchange(parts, exchange);
    return answer();
  };

  const followed = new Map<FuzzRequest, () => void>();
  const follow = (watches: readonly FuzzRequest[]): void => {
    for (const request of watches) {
      if (followed.has(request)) continue;
      const { exchange, leave } = inProcess(request, [der], Number.POSITIVE_INFINITY);
      followed.set(request, leave);
      void handleExchange(parts, exchange).finally(() => followed.delete(request));
    }
  };

  const url = new URL(server.url ?? '');
  const secrets = { ca: server.ca, cert: certificate, key };
  const secureContext = createSecureContext(secrets);
  const agent = new Agent({ ...secrets, keepAlive: true, maxSockets: 16 });
  const http1 = (request: FuzzRequest): Promise<FuzzAnswer | undefined> =>
    new Promise((resolve) => {
      try {
        const outgoing = httpsRequest(
          {
            hostname: url.hostname,
            port: url.port,
            agent,
            method: request.method,
            path: request.url,
            headers: request.headers.flat(),
          },
          (incoming) => {
            const chunks: Buffer[] = [];
            const { headers, statusCode = 0 } = incoming;
            const finish = (stream: boolean): void =>
              resolve({ code: statusCode, headers, body: Buffer.concat(chunks), stream });
            incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
            // A watch may end by itself.
            incoming.on('end', () => finish(headers['content-length'] === undefined));
            incoming.on('error', () => finish(true));
            if (headers['content-length'] === undefined && headers['transfer-encoding'] === 'chunked')
              setTimeout(() => incoming.complete || incoming.destroy(new Error('seen enough')), socketGlanceMs);
          },
        );
        outgoing.on('error', () => resolve(undefined));
        outgoing.end(request.body);
      } catch {
        resolve(undefined);
      }
    });

  let session: ClientHttp2Session | undefined;
  const connected = (): ClientHttp2Session => {
    if (session === undefined || session.closed || session.destroyed) {
      session = connectHttp2(url, secrets);
      session.on('error', () => {});
    }
    return session;
  };
  const http2 = (request: FuzzRequest): Promise<FuzzAnswer | undefined> =>
    new Promise((resolve) => {
      try {
        const headers: OutgoingHttpHeaders = { ':method': request.method, ':path': request.url };
        for (const [name, value] of request.headers) headers[name] = value;
        const stream = connected().request(headers, { endStream: request.body.length === 0 });
        const chunks: Buffer[] = [];
        let code = 0;
        let got: Readonly<Record<string, unknown>> = {};
        stream.on('response', (incoming) => {
          code = incoming[':status'] ?? 0;
          got = Object.fromEntries(Object.entries(incoming).filter(([name]) => !name.startsWith(':')));
          if (incoming['content-length'] === undefined) setTimeout(() => stream.close(), socketGlanceMs);
        });
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        // The end of a response may be missing when its time is over.
        let isCut = false;
        stream.on('error', () => {
          isCut = true;
        });
        stream.on('close', () => {
          const goesOn = isCut || got['content-length'] === undefined;
          resolve(code === 0 ? undefined : { code, headers: got, body: Buffer.concat(chunks), stream: goesOn });
        });
        if (request.body.length > 0) stream.end(request.body);
      } catch {
        resolve(undefined);
      }
    });

  const bytes = (sent: Buffer, protocol: 'h2' | 'http/1.1'): Promise<void> =>
    new Promise((resolve) => {
      const socket = connectTls({
        secureContext,
        host: url.hostname,
        port: Number(url.port),
        ALPNProtocols: [protocol],
      });
      const leave = setTimeout(() => socket.destroy(), 200);
      socket.on('secureConnect', () => socket.write(sent));
      socket.on('data', () => {
        // Whatever happens, the connection is closed a little later.
        setTimeout(() => socket.destroy(), socketGlanceMs);
      });
      socket.on('error', () => {});
      socket.on('close', () => {
        clearTimeout(leave);
        resolve();
      });
    });

  return {
    server,
    ask,
    http1,
    http2,
    bytes,
    follow,
    loggedErrors: () => errors.splice(0),
    stop: async () => {
      agent.destroy();
      session?.destroy();
      for (const leave of followed.values()) leave();
      stopping.abort();
      await server.stop();
    },
  };
}

function recorder(errors: string[]): Logger {
  const log: Logger = {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: (fields, message) => {
      const { err } = fields as { readonly err?: unknown };
      errors.push(`${message}: ${err instanceof Error ? err.stack : JSON.stringify(fields)}`);
    },
    child: () => log,
  };
  return log;
}

async function credentialsOf(server: Server): Promise<{ readonly certificate: string; readonly key: string }> {
  const { value } = await readYaml(server.adminKubeconfig);
  const { users } = value as {
    readonly users: readonly [
      { readonly user: { readonly 'client-certificate-data': string; readonly 'client-key-data': string } },
    ];
  };
  const text = (base64: string): string => Buffer.from(base64, 'base64').toString();
  return { certificate: text(users[0].user['client-certificate-data']), key: text(users[0].user['client-key-data']) };
}

/**
 * Returns an exchange without a socket, and functions to read its response and to leave it. A stream is left after a
 * short time.
 */
function inProcess(
  request: FuzzRequest,
  certificates: readonly Buffer[],
  staysMs = glanceMs,
): { readonly exchange: Exchange; answer(): FuzzAnswer; leave(): void } {
  const byName = new Map<string, string>();
  for (const [name, value] of request.headers) {
    const lower = name.toLowerCase();
    if (!byName.has(lower)) byName.set(lower, value);
  }
  const length = request.body.length;
  if (length > 0) byName.set('content-length', String(length));
  const body = new Readable({ read: () => {} });
  if (length > 0) body.push(request.body);
  body.push(null);
  const closed: (() => void)[] = [];
  let answered: FuzzAnswer | undefined;
  let stream: Writable | undefined;
  const leave = (): void => {
    for (const listener of closed) listener();
    stream?.destroy();
  };
  const exchange: Exchange = {
    version: 2,
    method: request.method,
    url: request.url,
    header: (name) => byName.get(name),
    rawHeaders: request.headers.flat(),
    body,
    // The caller's identity is that of the token, if there is one.
    peer: { certificates: byName.has('authorization') ? [] : certificates, address: '127.0.0.1' },
    onClosed: (listener) => closed.push(listener),
    get responseStarted() {
      return answered !== undefined;
    },
    isStalled: false,
    send: async (code, headers, { chunks }) => {
      const sent: Buffer[] = [];
      for await (const chunk of chunks) sent.push(chunk);
      answered = { code, headers, body: Buffer.concat(sent), stream: false };
    },
    stream: (code, headers) => {
      const chunks: Buffer[] = [];
      answered = { code, headers, body: Buffer.alloc(0), stream: true };
      const out = new Writable({
        write: (chunk: Buffer, _, done) => {
          // A permanent watcher keeps nothing.
          if (Number.isFinite(staysMs)) chunks.push(chunk);
          done();
        },
      });
      stream = out;
      const end = Number.isFinite(staysMs) ? setTimeout(leave, staysMs) : undefined;
      out.once('close', () => {
        clearTimeout(end);
        answered = { code, headers, body: Buffer.concat(chunks), stream: true };
      });
      return out;
    },
    closeAfterResponse: () => {},
    abort: () => {
      answered ??= { code: 0, headers: {}, body: Buffer.alloc(0), stream: false };
    },
  };
  const answer = (): FuzzAnswer => {
    if (answered === undefined) throw new Error('nothing was answered');
    return answered;
  };
  return { exchange, answer, leave };
}
