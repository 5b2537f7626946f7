import { constants as tls } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2SecureServer, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { raceTimeout } from '../runtime/abort.js';
import { shutdownClock } from '../runtime/clock.js';
import { openFileLimit } from '../runtime/open-files.js';
import { type ConnectionLimits, defaultConnectionLimits, maxConnections } from './connection-limits.js';
import type { Exchange } from './exchange.js';
import { type HandlerParts, handleExchange } from './handle-exchange.js';
import { Http1Connection, type ParserError } from './http1-connection.js';
import { Http2Exchange } from './http2-exchange.js';
import { Http2Sessions } from './http2-sessions.js';
import { peerOf } from './peer.js';
import { onlyHttp1, secureServer } from './secure-server.js';

/** Options of the listener: TLS, HTTP/2 and HTTP/1.1 on one port. Client certificates are requested and never required. */
export interface ListenerOptions {
  readonly host: string;
  /** The port; 0 picks a free one. */
  readonly port: number;
  /** The serving certificate (with chain) and its key, in PEM. */
  readonly certificate: string;
  readonly key: string;
  /**
   * Returns the CAs of client certificates in PEM; called for each connection. Their names are sent to clients, which
   * may choose a certificate by them.
   */
  readonly clientCas?: (() => string | undefined) | undefined;
  /** Default: true. If false, only HTTP/1.1 is served. */
  readonly http2?: boolean | undefined;
  readonly limits?: Partial<ConnectionLimits> | undefined;
  /** Called for every failed TLS handshake. */
  readonly onHandshakeFailed?: (() => void) | undefined;
}

/** The time for clients to read the last responses and disconnect, in milliseconds. */
const farewellMs = 1_000;

/** TLS settings that do not depend on the certificate. */
const secureContext = {
  minVersion: 'TLSv1.2',
  // No session tickets: for a resumed session OpenSSL reports the peer's leaf certificate without its intermediates.
  secureOptions: tls.SSL_OP_NO_TICKET,
} as const;

interface ConnectionOptions extends Pick<ListenerOptions, 'onHandshakeFailed'> {
  readonly clientCas: () => string | undefined;
}

export class Listener {
  readonly #server: Http2SecureServer;
  readonly #parts: HandlerParts;
  #serving: Pick<ListenerOptions, 'certificate' | 'key'>;
  #clientCas: string | undefined;
  /** TCP connections. `#sockets` has the TLS connections on them once established; undefined stands for HTTP/2. */
  readonly #connections = new Set<Socket>();
  readonly #sockets = new Map<Socket, Http1Connection | undefined>();
  readonly #sessions: Http2Sessions;
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<void>>();
  /** Whether connections were refused recently. */
  #full = false;

  constructor(parts: Omit<HandlerParts, 'stopping'>, options: Omit<ListenerOptions, 'host' | 'port'>) {
    const limits = { ...defaultConnectionLimits, ...options.limits };
    const connections = maxConnections(limits.connections, openFileLimit());
    this.#parts = { ...parts, stopping: this.#stopping.signal };
    this.#sessions = new Http2Sessions(parts);
    this.#serving = { certificate: options.certificate, key: options.key };
    const { clientCas = () => undefined } = options;
    this.#clientCas = clientCas();
    // Every request in progress may add a listener.
    setMaxListeners(0, this.#stopping.signal);
    this.#server = secureServer(
      { ...this.#secureContext(), ...(options.http2 === false ? { ALPNCallback: onlyHttp1 } : {}) },
      { ...limits, connections },
    );
    this.#followConnections({ ...options, clientCas }, connections);
    this.#takeRequests(limits.headerBytes);
    void this.#closeIdle(limits.idleMs);
  }

  /** Tracks connections and their errors. `connections` is the limit on their number. */
  #followConnections({ clientCas, onHandshakeFailed }: ConnectionOptions, connections: number | undefined): void {
    const { clock, log } = this.#parts;
    // Runs before the TLS handshake.
    this.#server.prependListener('connection', (socket) => {
      this.#setClientCas(clientCas());
      this.#connections.add(socket);
      socket.once('close', () => this.#connections.delete(socket));
    });
    this.#server.on('secureConnection', (socket) => {
      // Verifying a client certificate can leave an error in OpenSSL's queue, which Node.js would take for one of the
      // next read, and end the connection. Reading the certificates clears the queue.
      peerOf(socket, socket);
      const run = (exchange: Exchange): Promise<void> => this.#run(exchange);
      const plain = isHttp2(socket) ? undefined : new Http1Connection(socket, { run, clock });
      this.#sockets.set(socket, plain);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    // Node.js does not give the socket of a session away, but creates the session in this event.
    let established: Socket | undefined;
    this.#server.prependListener('secureConnection', (socket) => {
      established = socket;
    });
    this.#server.on('session', (session) => {
      if (established !== undefined) this.#sessions.add(session, established);
    });
    this.#server.on('clientError', (error: ParserError, socket: Socket) => {
      const connection = this.#sockets.get(socket);
      // A connection without a completed handshake cannot be answered.
      if (connection === undefined) socket.destroy();
      else connection.unreadable(error);
    });
    this.#server.on('tlsClientError', (error) => {
      onHandshakeFailed?.();
      log.debug({ err: error }, 'TLS handshake failed');
    });
    this.#server.on('drop', () => {
      if (!this.#full) log.warn({ limit: connections }, 'connections are refused: too many are open');
      this.#full = true;
    });
  }

  #takeRequests(headerBytes: number): void {
    // Listening for requests makes Node.js also wrap every HTTP/2 stream for it, which is not needed here and takes a
    // tenth of the time of a small response.
    for (const event of requestEvents) {
      this.#server.on(event, (request: IncomingMessage, response: ServerResponse) => {
        response.on('error', ignore);
        const waiting = this.#sockets.get(request.socket)?.take(request, response);
        if (waiting !== undefined) this.#track(waiting);
      });
    }
    // Node.js emits this for every request with an Upgrade header, whatever the protocol, and then reads nothing more
    // from the connection.
    this.#server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      this.#sockets
        .get(socket)
        ?.takeUpgrade(request, head)
        .catch(() => socket.destroy());
    });
    this.#server.removeAllListeners('stream');
    this.#server.on(
      'stream',
      (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, rawHeaders: string[]) => {
        stream.on('error', ignore);
        const onEnd = this.#sessions.counted(stream);
        if (listSize(rawHeaders) > headerBytes) {
          stream.respond({ ':status': 431 }, { endStream: true });
          onEnd?.();
        } else this.#run(new Http2Exchange(stream, headers, rawHeaders, this.#parts.clock), onEnd);
      },
    );
  }

  /** Closes idle HTTP/2 connections regularly. Node.js itself closes those of HTTP/1.1. */
  async #closeIdle(idleMs: number): Promise<void> {
    const { clock } = this.#parts;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await clock.sleep(Math.ceil(idleMs / 3), signal);
      this.#full = false;
      this.#sessions.closeIdle(idleMs);
    }
  }

  #run(exchange: Exchange, onEnd?: () => void): Promise<void> {
    const end = (): void => {
      this.#running.delete(done);
      onEnd?.();
    };
    const done = handleExchange(this.#parts, exchange).then(end, (error: unknown) => {
      this.#parts.log.error({ err: error }, 'exchange failed');
      exchange.abort();
      end();
    });
    this.#running.add(done);
    return done;
  }

  /** Tracks a request that waits for its turn. */
  #track(waiting: Promise<void>): void {
    this.#running.add(waiting);
    void waiting.then(() => this.#running.delete(waiting));
  }

  /** Resolves with the port once connections are accepted; rejects if the port is not available. */
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

  /** Sets certificate and key for new connections. */
  setCertificate(serving: Pick<ListenerOptions, 'certificate' | 'key'>): void {
    this.#serving = serving;
    this.#server.setSecureContext(this.#secureContext());
  }

  #secureContext(): SecureContextOptions {
    const { certificate, key } = this.#serving;
    const ca = this.#clientCas;
    return { ...secureContext, cert: certificate, key, ...(ca === undefined ? {} : { ca }) };
  }

  #setClientCas(pem: string | undefined): void {
    if (pem === this.#clientCas) return;
    this.#clientCas = pem;
    this.#server.setSecureContext(this.#secureContext());
  }

  /**
   * Stops accepting connections, ends watches, lets requests finish for at most `graceMs` milliseconds, then closes all
   * remaining connections and gives the work for them a moment to end. Idempotent.
   */
  async stop(graceMs: number): Promise<void> {
    const clock = shutdownClock(this.#parts.clock);
    this.#stopping.abort();
    const closed = new Promise<void>((resolve) => {
      if (this.#server.listening) this.#server.close(() => resolve());
      else resolve();
    });
    this.#sessions.close();
    await raceTimeout(clock, graceMs, this.#answered());
    for (const [socket, plain] of this.#sockets) if (plain?.isIdle) socket.end();
    if (this.#running.size === 0) await raceTimeout(clock, farewellMs, closed);
    this.#sessions.destroy();
    for (const socket of [...this.#sockets.keys(), ...this.#connections]) socket.destroy();
    await closed;
    await this.#givenUp();
  }

  /** Waits for a limited time until the requests of closed connections have noticed that and reported their outcome. */
  async #givenUp(): Promise<void> {
    await raceTimeout(shutdownClock(this.#parts.clock), farewellMs, this.#answered());
  }

  /** Resolves when all requests have been answered, including those that arrive meanwhile. */
  async #answered(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled([...this.#running]);
  }
}

/**
 * All events for requests. Node.js would answer those with `Expect` itself, or ask for the body before it is known
 * whether it is needed.
 */
const requestEvents = ['request', 'checkContinue', 'checkExpectation'];

/** Returns the size of a header list (RFC 9113 section 6.5.2), which differs from its encoded size. */
function listSize(rawHeaders: readonly string[]): number {
  let size = 16 * rawHeaders.length;
  for (const text of rawHeaders) size += text.length;
  return size;
}

const isHttp2 = (socket: Socket): boolean => 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';

const ignore = (): void => {};
