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
import { onlyHttp1, secureServer } from './secure-server.js';

/** TLS, HTTP/2 and HTTP/1.1 on one port. Client certificates are asked for and never required. */
export interface ListenerOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** PEM: serving certificate (with chain) and its key. */
  readonly certificate: string;
  readonly key: string;
  /** PEM of CAs of client certificates, asked for with every connection. Clients may choose theirs by these names. */
  readonly clientCas?: (() => string | undefined) | undefined;
  /** Default true; false: HTTP/1.1 alone. */
  readonly http2?: boolean | undefined;
  readonly limits?: Partial<ConnectionLimits> | undefined;
  /** Told of every TLS handshake that failed. */
  readonly onHandshakeFailed?: (() => void) | undefined;
}

/** When everything was answered, callers get so long to take the answer and leave. */
const farewellMs = 1_000;

/** What holds of TLS whatever the certificate. */
const secureContext = {
  minVersion: 'TLSv1.2',
  // No sessions to go on with: of such a connection OpenSSL tells the peer's leaf and not its intermediates.
  secureOptions: tls.SSL_OP_NO_TICKET,
} as const;

interface Following extends Pick<ListenerOptions, 'onHandshakeFailed'> {
  readonly clientCas: () => string | undefined;
}

export class Listener {
  readonly #server: Http2SecureServer;
  readonly #parts: HandlerParts;
  #serving: Pick<ListenerOptions, 'certificate' | 'key'>;
  #clientCas: string | undefined;
  /** TCP connections, and the TLS ones upon them once they are there; undefined: it speaks HTTP/2. */
  readonly #connections = new Set<Socket>();
  readonly #sockets = new Map<Socket, Http1Connection | undefined>();
  readonly #sessions: Http2Sessions;
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<void>>();
  /** Connections were refused lately. */
  #full = false;

  constructor(parts: Omit<HandlerParts, 'stopping'>, options: Omit<ListenerOptions, 'host' | 'port'>) {
    const limits = { ...defaultConnectionLimits, ...options.limits };
    const connections = maxConnections(limits.connections, openFileLimit());
    this.#parts = { ...parts, stopping: this.#stopping.signal };
    this.#sessions = new Http2Sessions(parts);
    this.#serving = { certificate: options.certificate, key: options.key };
    const { clientCas = () => undefined } = options;
    this.#clientCas = clientCas();
    // Every request under way may listen.
    setMaxListeners(0, this.#stopping.signal);
    this.#server = secureServer(
      { ...this.#secureContext(), ...(options.http2 === false ? { ALPNCallback: onlyHttp1 } : {}) },
      { ...limits, connections },
    );
    this.#followConnections({ ...options, clientCas }, connections);
    this.#takeRequests(limits.headerBytes);
    void this.#closeIdle(limits.idleMs);
  }

  /** What connects, speaks and goes. `connections`: how many there may be. */
  #followConnections({ clientCas, onHandshakeFailed }: Following, connections: number | undefined): void {
    const { clock, log } = this.#parts;
    // Before TLS looks at it.
    this.#server.prependListener('connection', (socket) => {
      this.#setClientCas(clientCas());
      this.#connections.add(socket);
      socket.once('close', () => this.#connections.delete(socket));
    });
    this.#server.on('secureConnection', (socket) => {
      const run = (exchange: Exchange): Promise<void> => this.#run(exchange);
      const plain = isHttp2(socket) ? undefined : new Http1Connection(socket, { run, clock });
      this.#sockets.set(socket, plain);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('session', (session) => this.#sessions.add(session));
    this.#server.on('clientError', (error: ParserError, socket: Socket) => {
      const connection = this.#sockets.get(socket);
      // One that has not got through its handshake can be told nothing.
      if (connection === undefined) socket.destroy();
      else connection.unreadable(error);
    });
    this.#server.on('tlsClientError', (error) => {
      onHandshakeFailed?.();
      log.debug({ err: error }, 'TLS handshake failed');
    });
    this.#server.on('drop', () => {
      if (!this.#full) log.warn({ limit: connections }, 'connections are refused: there are too many');
      this.#full = true;
    });
  }

  #takeRequests(headerBytes: number): void {
    // Listening for requests makes Node wrap every HTTP/2 stream for it too, which nobody needs here and takes a
    // tenth of the time of a small answer.
    for (const event of requestEvents) {
      this.#server.on(event, (request: IncomingMessage, response: ServerResponse) => {
        response.on('error', ignore);
        const waiting = this.#sockets.get(request.socket)?.take(request, response);
        if (waiting !== undefined) this.#track(waiting);
      });
    }
    // Node hands over every request with such a header, whatever it asks for, and reads nothing more of its connection.
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
        const over = this.#sessions.counted(stream);
        if (listSize(rawHeaders) > headerBytes) {
          stream.respond({ ':status': 431 }, { endStream: true });
          over?.();
        } else this.#run(new Http2Exchange(stream, headers, rawHeaders, this.#parts.clock), over);
      },
    );
  }

  /** HTTP/2 connections on which nothing is asked. Those of HTTP/1.1 Node closes by itself. */
  async #closeIdle(idleMs: number): Promise<void> {
    const { clock } = this.#parts;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await clock.sleep(Math.ceil(idleMs / 3), signal);
      this.#full = false;
      this.#sessions.closeIdle(idleMs);
    }
  }

  #run(exchange: Exchange, over?: () => void): Promise<void> {
    const end = (): void => {
      this.#running.delete(done);
      over?.();
    };
    const done = handleExchange(this.#parts, exchange).then(end, (error: unknown) => {
      this.#parts.log.error({ err: error }, 'exchange failed');
      exchange.abort();
      end();
    });
    this.#running.add(done);
    return done;
  }

  /** What is still to be run. */
  #track(waiting: Promise<void>): void {
    this.#running.add(waiting);
    void waiting.then(() => this.#running.delete(waiting));
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
   * Takes no more connections and tells the present ones to go, ends watches, lets requests finish for at most so long
   * (milliseconds), then closes whatever is left and gives what was at work for it a moment to end. Idempotent.
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

  /** Whoever was cut off is at work until they notice, and what became of them is told then; but not for ever. */
  async #givenUp(): Promise<void> {
    await raceTimeout(shutdownClock(this.#parts.clock), farewellMs, this.#answered());
  }

  /** Also what still came in on the way. */
  async #answered(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled([...this.#running]);
  }
}

/** Those with `Expect` Node itself would answer, or ask for their body before anybody knows whether it is wanted. */
const requestEvents = ['request', 'checkContinue', 'checkExpectation'];

/** How large a list of headers is (RFC 9113 section 6.5.2): what it takes on its way says nothing of that. */
function listSize(rawHeaders: readonly string[]): number {
  let size = 16 * rawHeaders.length;
  for (const text of rawHeaders) size += text.length;
  return size;
}

const isHttp2 = (socket: Socket): boolean => 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';

const ignore = (): void => {};
