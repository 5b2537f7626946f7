import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { utf8Text } from '../api/utf8-text.js';
import type { Body } from '../apiserver/represent.js';
import type { Clock } from '../runtime/clock.js';
import { PacedWriter, type WritePace } from './paced-writer.js';
import { acceptWebSocket, handshakeRefusal, isWebSocketRequest, type WebSocketOffer } from './web-socket.js';

/** One request and its answer, whichever HTTP version carries them. */
export interface Exchange {
  /** Of HTTP. */
  readonly version: 1 | 2;
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  /** First (or joined) value of a header. */
  header(name: string): string | undefined;
  /** Names (as sent) and values alternating, repetitions kept. */
  readonly rawHeaders: readonly string[];
  readonly body: Readable;
  readonly peer: Peer;
  /** Calls back when the caller has gone before the answer was given. */
  onClosed(listener: () => void): void;
  readonly answered: boolean;
  /** The answer was broken off, because nobody took it, or not in time. */
  readonly stuck: boolean;
  /**
   * Sends a whole answer; if that takes a while, resolves when the last of it was handed over, or nobody reads any
   * more. `until`: when (of the clock's `monotonic`) it is broken off.
   */
  send(code: number, headers: OutgoingHeaders, body: Body | StreamedBody, until?: number): Promise<void> | undefined;
  /** Begins an answer that goes on; headers are sent at once. */
  stream(code: number, headers: OutgoingHeaders): Writable;
  /** An answer that goes on may be sent as messages instead. */
  readonly webSocket?: WebSocketOffer | undefined;
  /** Said before an answer: the connection ends with it. */
  last(): void;
  /** Breaks off. */
  cut(): void;
}

/** A body of unknown length. */
export interface StreamedBody {
  readonly chunks: AsyncIterable<Buffer>;
}

/** Who is at the other end of a connection. */
export interface Peer {
  /** Of TLS, as DER, leaf first. */
  readonly certificates: readonly Buffer[];
  /** Empty where the connection is gone. */
  readonly address: string;
}

/** An exchange may change what it is given. */
export type OutgoingHeaders = Record<string, string | number | readonly string[]>;

const peers = new WeakMap<object, Peer>();

const nobody: Peer = { certificates: [], address: '' };

/** The peer, read once per connection (`owner` stands for it). */
function peerOf(owner: object, socket: Socket): Peer {
  const known = peers.get(owner);
  if (known !== undefined) return known;
  const peer = { certificates: certificatesOf(socket as TLSSocket), address: socket.remoteAddress ?? '' };
  peers.set(owner, peer);
  return peer;
}

/**
 * All that was sent, in its order. Node leads from one to the next; `getPeerCertificate` would pick one issuer of each
 * and leave out the others.
 */
function certificatesOf(socket: TLSSocket): readonly Buffer[] {
  const sent: Buffer[] = [];
  if (typeof socket.getPeerX509Certificate !== 'function') return sent;
  for (let next = socket.getPeerX509Certificate(); next !== undefined; next = next.issuerCertificate)
    sent.push(next.raw);
  return sent;
}

/** A class, as what is made for each of thousands of requests a second: closures would be made anew each time. */
export class Http1Exchange implements Exchange {
  readonly version = 1;
  readonly method: string;
  readonly url: string;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #clock: Clock;
  #isAsked = false;
  #stuck = false;

  constructor(request: IncomingMessage, response: ServerResponse, clock: Clock) {
    this.method = request.method ?? 'GET';
    this.url = originForm(request.url ?? '/');
    this.#request = request;
    this.#response = response;
    this.#clock = clock;
  }

  header(name: string): string | undefined {
    return firstValue(this.#request.headers[name], name, this.#request.rawHeaders);
  }

  get rawHeaders(): readonly string[] {
    return this.#request.rawHeaders;
  }

  get body(): Readable {
    this.#askForBody();
    return this.#request;
  }

  /** A client that sent `Expect: 100-continue` waits for it. Without it, Node closes the connection after answering. */
  #askForBody(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    const { headers, httpVersion } = this.#request;
    if (httpVersion === '1.1' && expectsContinue(headers.expect) && !this.#response.headersSent)
      this.#response.writeContinue();
  }

  get peer(): Peer {
    const { socket } = this.#request;
    return peerOf(socket, socket);
  }

  onClosed(listener: () => void): void {
    this.#response.once('close', () => {
      if (!this.#response.writableEnded) listener();
    });
  }

  get answered(): boolean {
    return this.#response.headersSent;
  }

  get stuck(): boolean {
    return this.#stuck;
  }

  send(code: number, headers: OutgoingHeaders, body: Body | StreamedBody, until?: number): Promise<void> | undefined {
    // What is still to come of a large body would have to be read to its end before the next request.
    if (!this.#request.complete && bodyLength(this.#request) > smallBody) this.last();
    this.#keepOpen();
    this.#response.writeHead(code, headers as Record<string, string | number | string[]>);
    return write(body, this.#response, { clock: this.#clock, until, cut: () => this.#giveUp() });
  }

  /** Node waits for a body wherever one is expected to be asked for, also where there is none. */
  #keepOpen(): void {
    if (bodyLength(this.#request) === 0) this.#askForBody();
  }

  stream(code: number, headers: OutgoingHeaders): Writable {
    this.#keepOpen();
    this.#response.writeHead(code, headers as Record<string, string | number | string[]>);
    // `flushHeaders` writes them as UTF-8, and what they hold is UTF-8 already, byte by byte.
    this.#response.write('', 'latin1');
    return this.#response;
  }

  last(): void {
    this.#response.setHeader('Connection', 'close');
  }

  cut(): void {
    this.#response.destroy();
  }

  #giveUp(): void {
    this.#stuck = true;
    this.cut();
  }
}

/**
 * A request that asks for another protocol, after which nothing else comes over the connection: it has left HTTP. It is
 * answered as any other, unless it is for a WebSocket and that is accepted.
 */
export class UpgradeExchange extends Http1Exchange {
  readonly webSocket: WebSocketOffer | undefined;
  readonly #response: ServerResponse;
  readonly #socket: Socket;
  /** What goes over the connection once protocols were switched. */
  #messages: Writable | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, head: Buffer, clock: Clock) {
    super(request, response, clock);
    this.#response = response;
    this.#socket = request.socket;
    if (!isWebSocketRequest(request)) return;
    this.webSocket = {
      refusal: handshakeRefusal(request),
      accept: async ({ binary }) => {
        response.detachSocket(this.#socket);
        this.#messages = await acceptWebSocket(request, { socket: this.#socket, head, binary });
        return this.#messages;
      },
    };
  }

  override onClosed(listener: () => void): void {
    this.#socket.once('close', () => {
      if (!(this.#messages ?? this.#response).writableEnded) listener();
    });
  }

  override get answered(): boolean {
    return this.#messages !== undefined || super.answered;
  }

  override cut(): void {
    this.#socket.destroy();
  }
}

export class Http2Exchange implements Exchange {
  readonly version = 2;
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly #stream: ServerHttp2Stream;
  readonly #session: ServerHttp2Session | undefined;
  readonly #headers: IncomingHttpHeaders;
  readonly #clock: Clock;
  #isLast = false;
  #isAsked = false;
  #stuck = false;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: readonly string[], clock: Clock) {
    this.method = headers[':method'] ?? 'GET';
    this.url = targetText(headers[':path'] ?? '');
    this.rawHeaders = rawHeaders;
    this.#stream = stream;
    // Gone from the stream once that is over.
    this.#session = stream.session as ServerHttp2Session | undefined;
    this.#headers = headers;
    this.#clock = clock;
  }

  header(name: string): string | undefined {
    return firstValue(this.#headers[name], name, this.rawHeaders);
  }

  get body(): Readable {
    this.#askForBody();
    return this.#stream;
  }

  /** A client that sent `Expect: 100-continue` waits for it. */
  #askForBody(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    const stream = this.#stream;
    if (expectsContinue(this.#headers.expect) && !stream.headersSent && !stream.destroyed && !stream.closed)
      stream.additionalHeaders({ ':status': 100 });
  }

  get peer(): Peer {
    const session = this.#session;
    return session === undefined ? nobody : peerOf(session, session.socket);
  }

  onClosed(listener: () => void): void {
    // Before 'close' Node ends the stream itself, so that this says nothing of whether it was answered.
    this.#stream.once('aborted', listener);
  }

  get answered(): boolean {
    return this.#stream.headersSent;
  }

  get stuck(): boolean {
    return this.#stuck;
  }

  send(code: number, headers: OutgoingHeaders, body: Body | StreamedBody, until?: number): Promise<void> | undefined {
    const stream = this.#stream;
    if (stream.destroyed || stream.closed) return undefined;
    this.#respond(code, headers);
    // Whatever the caller goes on sending is not wanted.
    if (!stream.endAfterHeaders && !stream.readableEnded) {
      stream.once('finish', () => stream.close(constants.NGHTTP2_NO_ERROR));
    }
    const written = write(body, stream, { clock: this.#clock, until, cut: () => this.#giveUp() });
    if (this.#isLast) this.#session?.close();
    return written;
  }

  stream(code: number, headers: OutgoingHeaders): Writable {
    if (!this.#stream.destroyed && !this.#stream.closed) this.#respond(code, headers);
    if (this.#isLast) this.#session?.close();
    return this.#stream;
  }

  #respond(code: number, headers: OutgoingHeaders): void {
    headers[':status'] = code;
    // What HTTP/1.1 says by a header, HTTP/2 says of the session (RFC 9113 section 8.2.2).
    if (headers['Connection'] === 'close') this.last();
    delete headers['Connection'];
    this.#stream.respond(headers as OutgoingHttpHeaders);
  }

  last(): void {
    this.#isLast = true;
  }

  cut(): void {
    // Closing would wait for a reader that may never come, and without an error this would look like the end.
    this.#stream.destroy(brokenOff);
  }

  #giveUp(): void {
    this.#stuck = true;
    this.cut();
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is that of ASCII.
const beyondAscii = /[^\x00-\x7f]/;
/** Node reads headers byte by byte; who somebody is, and what a client calls itself, is written in UTF-8. */
export const headerText = (bytes: string): string =>
  beyondAscii.test(bytes) ? utf8Text(Buffer.from(bytes, 'latin1')) : bytes;

/** So is what is asked for. Bytes that are no UTF-8 are there what they are when they are percent-encoded. */
const targetText = (bytes: string): string =>
  beyondAscii.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes;

/** Does the caller wait to be asked for the body (RFC 9110 section 10.1.1)? As Node tells it over HTTP/1.1. */
export const expectsContinue = (expect = ''): boolean => /(?:^|\W)100-continue(?:$|\W)/i.test(expect);

/** Path and query of a target that names the host as well, as proxies are sent. RFC 9112 section 3.2.2. */
const originForm = (target: string): string =>
  target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*\/?/i, '/');

/** The first value of a header. Node joins those of most headers that come more than once. */
function firstValue(
  value: string | string[] | undefined,
  name: string,
  rawHeaders: readonly string[],
): string | undefined {
  if (Array.isArray(value)) return value[0];
  if (!value?.includes(', ')) return value;
  const at = rawHeaders.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === name);
  return rawHeaders[at + 1] ?? value;
}

const brokenOff = new Error('the answer was broken off');

/** Bytes of its body, as far as the head tells. */
export const bodyLength = ({ headers }: IncomingMessage): number =>
  headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.POSITIVE_INFINITY;

const smallBody = 262_144;

/** Smaller answers fit into the buffers of the system, and nobody waits for their reader. */
const longAnswer = 65_536;

type Out = ServerResponse | ServerHttp2Stream;

/**
 * Of a long answer no more is made and kept than its reader takes. Whoever asks for much and does not read it loses the
 * answer after a while in which nothing moved, or when the time of the request is over.
 */
function write(body: Body | StreamedBody, out: Out, pace: WritePace): Promise<void> | undefined {
  if ('length' in body && body.length <= longAnswer) {
    const [first = Buffer.alloc(0), ...others] = body.chunks;
    out.end(others.length === 0 ? first : Buffer.concat([first, ...others]));
    return undefined;
  }
  return writeAll(body, out, pace);
}

async function writeAll({ chunks }: Body | StreamedBody, out: Out, pace: WritePace): Promise<void> {
  const writer = new PacedWriter(out, pace);
  for await (const chunk of chunks) {
    if (writer.isOver) return;
    if (!writer.write(chunk)) await writer.taken();
  }
  writer.end();
}
