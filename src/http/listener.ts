import { constants as tls } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type SecureServerOptions,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { endingClock } from '../runtime/clock.js';
import { openFileLimit } from '../runtime/open-files.js';
import {
  type ConnectionLimits,
  concurrentStreams,
  connectionsAtMost,
  defaultConnectionLimits,
  headerOverhead,
  keepAliveMs,
  takenBack,
  unreadMegabytes,
} from './connection-limits.js';
import { type Exchange, Http2Exchange } from './exchange.js';
import { type FacadeParts, serve } from './facade.js';
import { Http1Connection, type ParserError } from './http1-connection.js';
import { endBetweenReads } from './session-ends.js';
import { isWebSocketRequest } from './web-socket.js';

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

/** An HTTP/2 connection: requests that are being answered, and when the last of them was (milliseconds). */
interface SessionState {
  running: number;
  since: number;
  /** Requests that the caller took back, less those that are forgiven by now. */
  takenBack: number;
  forgiven: number;
  /** It ends because of them. */
  isRefused: boolean;
}

/** When everything was answered, callers get so long to take the answer and leave. */
const farewellMs = 1_000;

/** What holds of TLS whatever the certificate. */
const secureContext = {
  minVersion: 'TLSv1.2',
  // No sessions to go on with: of such a connection OpenSSL tells the peer's leaf and not its intermediates.
  secureOptions: tls.SSL_OP_NO_TICKET,
} as const;

/**
 * Values with blanks at their ends count, as in Kubernetes: Node leaves out the whole header otherwise, and nobody is
 * told that somebody acts for another. Unknown to the types, and to Node 20.
 */
const asSent: object = { strictFieldWhitespaceValidation: false };

interface Following extends Pick<ListenerOptions, 'onHandshakeFailed'> {
  readonly clientCas: () => string | undefined;
}

export class Listener {
  readonly #server: Http2SecureServer;
  readonly #parts: FacadeParts;
  #serving: Pick<ListenerOptions, 'certificate' | 'key'>;
  #clientCas: string | undefined;
  /** TCP connections, and the TLS ones upon them once they are there; undefined: it speaks HTTP/2. */
  readonly #connections = new Set<Socket>();
  readonly #sockets = new Map<Socket, Http1Connection | undefined>();
  readonly #sessions = new Map<Http2Session, SessionState>();
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<void>>();
  /** Connections were refused lately. */
  #full = false;

  constructor(parts: Omit<FacadeParts, 'stopping'>, options: Omit<ListenerOptions, 'host' | 'port'>) {
    const limits = { ...defaultConnectionLimits, ...options.limits };
    const connections = connectionsAtMost(limits.connections, openFileLimit());
    this.#parts = { ...parts, stopping: this.#stopping.signal };
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
    this.#server.on('session', (session) => {
      endBetweenReads(session);
      this.#sessions.set(session, this.#newState());
      session.once('close', () => this.#sessions.delete(session));
      session.on('error', ignore);
    });
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
        const over = this.#counted(stream);
        if (listSize(rawHeaders) > headerBytes) {
          stream.respond({ ':status': 431 }, { endStream: true });
          over?.();
        } else this.#run(new Http2Exchange(stream, headers, rawHeaders, this.#parts.clock), over);
      },
    );
  }

  /** Counts a stream among those of its session until what is returned is called. */
  #counted(stream: ServerHttp2Stream): (() => void) | undefined {
    const { session } = stream;
    const state = session === undefined ? undefined : this.#sessions.get(session);
    if (session === undefined || state === undefined) return undefined;
    state.running++;
    stream.on('close', () => {
      // Also counts streams that were reset after their response was written (rapid reset).
      if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) this.#countTakenBack(state, session);
    });
    return () => {
      state.running--;
      state.since = this.#parts.clock.monotonic();
    };
  }

  #newState(): SessionState {
    const now = this.#parts.clock.monotonic();
    return { running: 0, since: now, takenBack: 0, forgiven: now, isRefused: false };
  }

  /** Ends connections of callers who take back too many requests (CVE-2023-44487). */
  #countTakenBack(state: SessionState, session: Http2Session): void {
    const now = this.#parts.clock.monotonic();
    const forgiven = ((now - state.forgiven) / 1_000) * takenBack.perSecond;
    state.takenBack = Math.max(0, state.takenBack - forgiven) + 1;
    state.forgiven = now;
    if (state.takenBack <= takenBack.atOnce || state.isRefused) return;
    state.isRefused = true;
    this.#parts.log.warn(
      { remoteAddress: session.socket.remoteAddress },
      'connection ended: too many requests taken back',
    );
    session.destroy(new Error('too many requests taken back'), constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  /** HTTP/2 connections on which nothing is asked. Those of HTTP/1.1 Node closes by itself. */
  async #closeIdle(idleMs: number): Promise<void> {
    const { clock } = this.#parts;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await clock.sleep(Math.ceil(idleMs / 3), signal);
      this.#full = false;
      const now = clock.monotonic();
      for (const [session, { running, since }] of this.#sessions) {
        if (running > 0 || now - since < idleMs) continue;
        // One that was told to go and stays has answers that nobody takes.
        if (session.closed) session.destroy();
        else session.close();
      }
    }
  }

  #run(exchange: Exchange, over?: () => void): Promise<void> {
    const end = (): void => {
      this.#running.delete(done);
      over?.();
    };
    const done = serve(this.#parts, exchange).then(end, (error: unknown) => {
      this.#parts.log.error({ err: error }, 'exchange failed');
      exchange.cut();
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
    const clock = endingClock(this.#parts.clock);
    this.#stopping.abort();
    const closed = new Promise<void>((resolve) => {
      if (this.#server.listening) this.#server.close(() => resolve());
      else resolve();
    });
    for (const session of this.#sessions.keys()) session.close();
    const over = new AbortController();
    await Promise.race([this.#answered(), clock.sleep(graceMs, over.signal)]);
    for (const [socket, plain] of this.#sockets) if (plain?.isIdle) socket.end();
    if (this.#running.size === 0) await Promise.race([closed, clock.sleep(farewellMs, over.signal)]);
    over.abort();
    for (const session of this.#sessions.keys()) session.destroy();
    for (const socket of [...this.#sockets.keys(), ...this.#connections]) socket.destroy();
    await closed;
    await this.#givenUp();
  }

  /** Whoever was cut off is at work until they notice, and what became of them is told then; but not for ever. */
  async #givenUp(): Promise<void> {
    const over = new AbortController();
    await Promise.race([this.#answered(), endingClock(this.#parts.clock).sleep(farewellMs, over.signal)]);
    over.abort();
  }

  /** Also what still came in on the way. */
  async #answered(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled([...this.#running]);
  }
}

/** A server that nobody listens to yet; `connections` of the limits: how many the system allows, if it says. */
function secureServer(
  context: SecureServerOptions,
  limits: Omit<ConnectionLimits, 'connections'> & { readonly connections: number | undefined },
): Http2SecureServer {
  const server = createSecureServer({
    allowHTTP1: true,
    requestCert: true,
    rejectUnauthorized: false,
    ...context,
    handshakeTimeout: limits.headersMs,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveMs,
    maxHeaderListPairs: Math.ceil((2 * limits.headerBytes) / headerOverhead),
    maxSessionMemory: unreadMegabytes,
    ...asSent,
    // Beyond this Node ends the stream without a word; what is larger than the limit is answered up to there.
    settings: { maxConcurrentStreams: concurrentStreams, maxHeaderListSize: 2 * limits.headerBytes },
  });
  // What Node's own server of HTTP/1.1 takes as options is read from members here.
  Object.assign(server, {
    maxConnections: limits.connections,
    maxHeaderSize: limits.headerBytes,
    // Node passes over what is beyond its own number without a word: whom somebody acts for, for one.
    maxHeadersCount: 0,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: Math.min(30_000, Math.ceil(limits.headersMs / 2)),
    // Newer versions of Node hand over only requests for what is spoken here, and answer others as if they asked for nothing.
    shouldUpgradeCallback: isWebSocketRequest,
    // When it closes, Node would cut answers whose last bytes are on their way; `stop` ends idle connections itself.
    closeIdleConnections: ignore,
  });
  return server;
}

/** Clients without HTTP/1.1 are refused in the handshake. Node would replace a list of protocols by its own. */
const onlyHttp1 = ({ protocols }: { readonly protocols: readonly string[] }): string | undefined =>
  protocols.find((protocol) => protocol === 'http/1.1');

/** Those with `Expect` Node itself would answer, or ask for their body before anybody knows whether it is wanted. */
const requestEvents = ['request', 'checkContinue', 'checkExpectation'];

const ignore = (): void => {};

/** How large a list of headers is (RFC 9113 section 6.5.2): what it takes on its way says nothing of that. */
function listSize(rawHeaders: readonly string[]): number {
  let size = 16 * rawHeaders.length;
  for (const text of rawHeaders) size += text.length;
  return size;
}

const isHttp2 = (socket: Socket): boolean => 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';
