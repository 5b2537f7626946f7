import { constants as tls } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { openFileLimit } from '../runtime/open-files.js';
import {
  type ConnectionLimits,
  concurrentStreams,
  connectionsAtMost,
  defaultConnectionLimits,
  headerPairs,
  keepAliveMs,
  takenBack,
  unreadMegabytes,
} from './connection-limits.js';
import { type Exchange, Http1Exchange, Http2Exchange } from './exchange.js';
import { type FacadeParts, serve } from './facade.js';
import { endBetweenReads } from './session-ends.js';

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

export class Listener {
  readonly #server: Http2SecureServer;
  readonly #parts: FacadeParts;
  #serving: Pick<ListenerOptions, 'certificate' | 'key'>;
  #clientCas: string | undefined;
  /** TCP connections, and the TLS ones upon them once they are there. */
  readonly #connections = new Set<Socket>();
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Map<Http2Session, SessionState>();
  /** Connections over HTTP/1.1 on which something is being answered, with how many requests that is. */
  readonly #answering = new Map<Socket, number>();
  /** The latest request on each of them, and when it will have been answered to its end. */
  readonly #turns = new Map<Socket, { readonly request: IncomingMessage; readonly over: Promise<void> }>();
  /** Connections over HTTP/1.1 on which nothing more is looked at. */
  readonly #refused = new WeakSet<Socket>();
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
    this.#server = createSecureServer({
      allowHTTP1: true,
      requestCert: true,
      rejectUnauthorized: false,
      ...this.#secureContext(),
      handshakeTimeout: limits.headersMs,
      keepAlive: true,
      keepAliveInitialDelay: keepAliveMs,
      maxHeaderListPairs: headerPairs,
      maxSessionMemory: unreadMegabytes,
      // Beyond this Node ends the stream without a word; what is larger than the limit is answered up to there.
      settings: { maxConcurrentStreams: concurrentStreams, maxHeaderListSize: 2 * limits.headerBytes },
    });
    // What Node's own server of HTTP/1.1 takes as options is read from members here.
    Object.assign(this.#server, {
      maxConnections: connections,
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.idleMs,
      connectionsCheckingInterval: Math.min(30_000, Math.ceil(limits.headersMs / 2)),
      // When it closes, Node would cut answers whose last bytes are on their way; `stop` ends idle connections itself.
      closeIdleConnections: ignore,
    });
    // Before TLS looks at it.
    this.#server.prependListener('connection', (socket) => {
      this.#setClientCas(clientCas());
      this.#connections.add(socket);
      socket.once('close', () => this.#connections.delete(socket));
    });
    this.#server.on('secureConnection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('session', (session) => {
      endBetweenReads(session);
      this.#sessions.set(session, this.#newState());
      session.once('close', () => this.#sessions.delete(session));
      session.on('error', ignore);
    });
    // Listening for requests makes Node wrap every HTTP/2 stream for it too, which nobody needs here and takes a
    // tenth of the time of a small answer.
    this.#server.on('request', (request, response) => {
      const plain = response as unknown as ServerResponse;
      plain.on('error', ignore);
      const { socket } = request;
      const incoming = request as unknown as IncomingMessage;
      // Nothing is read behind what ended the connection (RFC 9112 section 9.6).
      if (this.#refused.has(socket)) return;
      const wrong = refusalOf(incoming);
      if (wrong !== undefined) {
        const headers = { 'content-type': 'text/plain; charset=utf-8', connection: 'close' };
        const refused = new Promise<void>((resolve) => plain.once('close', resolve));
        const before = this.#turns.get(socket)?.over;
        const over = before?.then(() => (isUnsendable(plain) ? undefined : refused)) ?? refused;
        this.#takeTurn(socket, incoming, over);
        this.#refused.add(socket);
        plain.writeHead(wrong.code, headers).end(wrong.text);
        return;
      }
      this.#inTurn(socket, incoming, plain);
    });
    this.#server.removeAllListeners('stream');
    this.#server.on(
      'stream',
      (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, rawHeaders: string[]) => {
        stream.on('error', ignore);
        const { session } = stream;
        const state = session === undefined ? undefined : this.#sessions.get(session);
        let over: (() => void) | undefined;
        if (session !== undefined && state !== undefined) {
          state.running++;
          over = () => {
            state.running--;
            state.since = parts.clock.monotonic();
          };
          stream.on('close', () => {
            // Also of requests that were answered before anybody heard that the answer is not wanted.
            if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) this.#countTakenBack(state, session);
          });
        }
        if (listSize(rawHeaders) > limits.headerBytes) {
          stream.respond({ ':status': 431 }, { endStream: true });
          over?.();
        } else this.#run(new Http2Exchange(stream, headers, rawHeaders, parts.clock), over);
      },
    );
    this.#server.on('clientError', (error: NodeJS.ErrnoException & { readonly rawPacket?: Buffer }, socket: Socket) => {
      if (error.code === 'HPE_PAUSED' && error.rawPacket !== undefined) readLater(socket, error.rawPacket);
      // One that has not got through its handshake can be told nothing.
      else if (!socket.writable || !this.#sockets.has(socket)) socket.destroy();
      else void this.#refuse(socket, refusalText(error.code));
    });
    this.#server.on('tlsClientError', (error) => {
      options.onHandshakeFailed?.();
      parts.log.debug({ err: error }, 'TLS handshake failed');
    });
    this.#server.on('drop', () => {
      if (!this.#full) parts.log.warn({ limit: connections }, 'connections are refused: there are too many');
      this.#full = true;
    });
    void this.#closeIdle(limits.idleMs);
  }

  /**
   * Requests that come over HTTP/1.1 before those before them are answered wait for their turn (RFC 9112 section 9.3.2): each may
   * rely on what the others did. Until then Node gives an answer no connection, and tells nobody when that closes.
   */
  #inTurn(socket: Socket, request: IncomingMessage, response: ServerResponse): void {
    const count = (this.#answering.get(socket) ?? 0) + 1;
    if (count > pipelinedAtMost) {
      void this.#refuse(socket, refusalText('TOO_MANY'));
      return;
    }
    this.#answering.set(socket, count);
    const before = this.#turns.get(socket);
    const closed = new Promise<void>((resolve) => response.once('close', resolve));
    const exchange = new Http1Exchange(request, response, this.#parts.clock);
    const answered = (): void => this.#oneAnswered(socket);
    const start = (): Promise<void> =>
      this.#run(exchange, answered).then(() => (socket.destroyed ? undefined : closed));
    const over =
      before === undefined ? start() : before.over.then(() => (isUnsendable(response) ? answered() : start()));
    if (before !== undefined) {
      this.#running.add(over);
      void over.then(() => this.#running.delete(over));
    }
    this.#takeTurn(socket, request, over);
  }

  #takeTurn(socket: Socket, request: IncomingMessage, over: Promise<void>): void {
    const turn = { request, over };
    this.#turns.set(socket, turn);
    void over.then(() => {
      if (this.#turns.get(socket) === turn) this.#turns.delete(socket);
    });
  }

  /** What follows cannot be read: what came before is answered, and then that is told. */
  async #refuse(socket: Socket, text: string): Promise<void> {
    if (this.#refused.has(socket)) return;
    this.#refused.add(socket);
    const turn = this.#turns.get(socket);
    // Its own body is what cannot be read.
    if (turn?.request.complete === false) {
      socket.destroy();
      return;
    }
    socket.removeAllListeners('data');
    await turn?.over;
    if (socket.writable) socket.end(text, () => socket.destroy());
  }

  /** One of the requests on a connection over HTTP/1.1 was answered; others may have come before that. */
  #oneAnswered(socket: Socket): void {
    const left = (this.#answering.get(socket) ?? 1) - 1;
    if (left > 0) this.#answering.set(socket, left);
    else this.#answering.delete(socket);
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
    const { clock } = this.#parts;
    this.#stopping.abort();
    const closed = new Promise<void>((resolve) => {
      if (this.#server.listening) this.#server.close(() => resolve());
      else resolve();
    });
    for (const session of this.#sessions.keys()) session.close();
    const over = new AbortController();
    await Promise.race([this.#answered(), clock.sleep(graceMs, over.signal)]);
    for (const socket of this.#sockets) if (!this.#answering.has(socket) && !isHttp2(socket)) socket.end();
    if (this.#running.size === 0) await Promise.race([closed, clock.sleep(farewellMs, over.signal)]);
    over.abort();
    for (const session of this.#sessions.keys()) session.destroy();
    for (const socket of [...this.#sockets, ...this.#connections]) socket.destroy();
    await closed;
    await this.#givenUp();
  }

  /** Whoever was cut off is at work until they notice, and what became of them is told then; but not for ever. */
  async #givenUp(): Promise<void> {
    const over = new AbortController();
    await Promise.race([this.#answered(), this.#parts.clock.sleep(farewellMs, over.signal)]);
    over.abort();
  }

  /** Also what still came in on the way. */
  async #answered(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled([...this.#running]);
  }
}

const ignore = (): void => {};

/** Requests on a connection over HTTP/1.1 that may come before the first of them is answered. Few clients send any so. */
const pipelinedAtMost = 100;

/**
 * When the answers before it have been sent, Node gives an answer its connection before it tells of that. Where it does not,
 * the connection is gone, or ends with the answer before.
 */
const isUnsendable = ({ socket }: ServerResponse): boolean => socket === null;

/** How large a list of headers is (RFC 9113 section 6.5.2): what it takes on its way says nothing of that. */
function listSize(rawHeaders: readonly string[]): number {
  let size = 16 * rawHeaders.length;
  for (const text of rawHeaders) size += text.length;
  return size;
}

/**
 * Over HTTP/1.1 Node reads no further while an answer is not yet with the system, and calls it an error when what TLS had
 * already taken in goes on: the body behind the head of a request that follows an answer of 16 KiB at once. That is
 * handed over when Node goes on.
 */
function readLater(socket: Socket, bytes: Buffer): void {
  socket.once('resume', () => {
    if (socket.isPaused()) readLater(socket, bytes);
    else socket.emit('data', bytes);
  });
}

const isHttp2 = (socket: Socket): boolean => 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';

const refusals: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  TOO_MANY: '429 Too Many Requests',
};

/** What keeps a request from being looked at. */
function refusalOf(request: IncomingMessage): { readonly code: number; readonly text: string } | undefined {
  const host = hostProblem(request);
  if (host !== undefined) return { code: 400, text: `400 Bad Request: ${host}` };
  // Somebody in front of this server may undo others, and would see another body.
  const coding = request.headers['transfer-encoding'];
  if (coding === undefined || coding.toLowerCase() === 'chunked') return undefined;
  return { code: 501, text: 'Unsupported transfer encoding' };
}

/**
 * A request over HTTP/1.1 names one host (RFC 9112 section 3.2): with none or two, a proxy in front and this server may think
 * of different ones.
 */
function hostProblem({ httpVersionMinor, rawHeaders }: IncomingMessage): string | undefined {
  const hosts = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'host');
  if (hosts.length === 0) return httpVersionMinor === 0 ? undefined : 'missing required Host header';
  if (hosts.length > 1) return 'too many Host headers';
  return hostCharacters.test(hosts[0] ?? '') ? undefined : 'malformed Host header';
}

const hostCharacters = /^[A-Za-z0-9!$%&'()*+,\-.:;=[\]_~]*$/;

/** The answer to what is no request. */
function refusalText(code = ''): string {
  const status = (Object.hasOwn(refusals, code) ? refusals[code] : undefined) ?? '400 Bad Request';
  return `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${status}`;
}
