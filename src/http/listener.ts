import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { type Exchange, http1Exchange, http2Exchange } from './exchange.js';
import { type FacadeParts, serve } from './facade.js';

/** TLS, HTTP/2 and HTTP/1.1 on one port. Client certificates are asked for and never required. */
export interface ListenerOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** PEM: serving certificate (with chain) and its key. */
  readonly certificate: string;
  readonly key: string;
}

export class Listener {
  readonly #server: Http2SecureServer;
  readonly #parts: Omit<FacadeParts, 'stopping'>;
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<void>>();

  constructor(parts: Omit<FacadeParts, 'stopping'>, options: Pick<ListenerOptions, 'certificate' | 'key'>) {
    this.#parts = parts;
    this.#server = createSecureServer({
      allowHTTP1: true,
      cert: options.certificate,
      key: options.key,
      requestCert: true,
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
      settings: { maxConcurrentStreams: 100 },
    });
    this.#server.on('secureConnection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('session', (session) => {
      this.#sessions.add(session);
      session.once('close', () => this.#sessions.delete(session));
      session.on('error', () => {});
    });
    this.#server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, rawHeaders: string[]) => {
      stream.on('error', () => {});
      this.#run(http2Exchange(stream, headers, rawHeaders));
    });
    this.#server.on('request', (request, response) => {
      if (request.httpVersionMajor >= 2) return;
      const plain = response as unknown as ServerResponse;
      plain.on('error', () => {});
      this.#run(http1Exchange(request as unknown as IncomingMessage, plain));
    });
    this.#server.on('tlsClientError', (error) => parts.log.debug({ err: error }, 'TLS handshake failed'));
  }

  #run(exchange: Exchange): void {
    const done = serve({ ...this.#parts, stopping: this.#stopping.signal }, exchange).catch((error: unknown) => {
      this.#parts.log.error({ err: error }, 'exchange failed');
      exchange.cut();
    });
    this.#running.add(done);
    void done.finally(() => this.#running.delete(done));
  }

  /** Resolves with the port once connections are accepted; rejects if it cannot be had. */
  listen({ host, port }: Pick<ListenerOptions, 'host' | 'port'>): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        this.#server.on('error', (error) => this.#parts.log.error({ err: error }, 'listener failed'));
        resolve((this.#server.address() as AddressInfo).port);
      });
    });
  }

  /** Takes other certificate and key for connections to come. */
  setCertificate(certificate: string, key: string): void {
    this.#server.setSecureContext({ cert: certificate, key });
  }

  /** Ends watches, lets requests finish for at most so long, then closes every connection. Idempotent. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    const closed = new Promise<void>((resolve) => {
      if (this.#server.listening) this.#server.close(() => resolve());
      else resolve();
    });
    for (const session of this.#sessions) session.close();
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    await Promise.race([Promise.allSettled([...this.#running]), patience]);
    clearTimeout(timer);
    for (const session of this.#sessions) session.destroy();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
