import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../runtime/clock.js';
import type { Exchange } from './exchange.js';
import { expectsContinue } from './header-text.js';
import { bodyLength, Http1Exchange, UpgradeExchange } from './http1-exchange.js';

/** The error of Node's parser for a connection that cannot be read any further. */
export type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

interface ConnectionContext {
  /** Answers a request; never rejects. */
  readonly run: (exchange: Exchange) => Promise<void>;
  readonly clock: Clock;
}

/** The maximum number of pipelined requests, those sent before the first of them is answered. Few clients pipeline. */
const pipelinedAtMost = 100;

/**
 * The time for a peer that is still sending to read the last response, in milliseconds. Closing a connection with
 * unread input resets it, and the peer's system then discards what the peer has not read yet.
 */
const farewellMs = 500;

/**
 * An HTTP/1.1 connection. Pipelined requests wait for their turn (RFC 9112 section 9.3.2), because each may rely on the
 * effects of the earlier ones. Until then Node.js assigns no socket to the response and does not report when the socket
 * closes.
 */
export class Http1Connection {
  readonly #socket: Socket;
  readonly #context: ConnectionContext;
  readonly #closeWhenSent: () => void;
  /** The number of requests that are being answered or wait for that. */
  #unanswered = 0;
  /** The latest request, with a promise that resolves once its response has been sent; undefined if no request is in flight. */
  #latest: { readonly request: IncomingMessage; readonly over: Promise<void> } | undefined;
  /** Whether further input is ignored. */
  #isRefused = false;

  constructor(socket: Socket, context: ConnectionContext) {
    this.#socket = socket;
    this.#context = context;
    this.#closeWhenSent = socket.destroySoon.bind(socket);
    // Node.js calls this after the last response.
    socket.destroySoon = () => {
      if (this.#latest?.request.complete === false) void this.#leave();
      else this.#closeWhenSent();
    };
  }

  get isIdle(): boolean {
    return this.#unanswered === 0;
  }

  /** Answers a request when its turn comes; returns undefined if that is now. */
  take(request: IncomingMessage, response: ServerResponse): Promise<void> | undefined {
    // Input after the end of a connection is not read (RFC 9112 section 9.6).
    if (this.#isRefused) return undefined;
    if (this.#unanswered >= pipelinedAtMost) {
      void this.#refuse(tooMany);
      return undefined;
    }
    return this.#answer(request, response, () => new Http1Exchange(request, response, this.#context.clock));
  }

  /** Answers a request for another protocol; `head` is the input after it. It is the last request of its connection. */
  async takeUpgrade(request: IncomingMessage, head: Buffer): Promise<void> {
    const socket = this.#socket;
    socket.on('error', () => {});
    // A client that sends such a request while others are being answered cannot know whether it will be accepted.
    const isEarly = this.#isRefused || !this.isIdle;
    this.#isRefused = true;
    // A response holds the socket until it has been sent.
    if (!isEarly) await this.#latest?.over;
    if (isEarly || !socket.writable) return void socket.destroy();
    const response = new ServerResponse(request);
    response.on('error', () => {});
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    // Node.js does the same for the responses that it creates itself.
    socket.on('drain', () => response.emit('drain'));
    response.once('finish', () => socket.destroySoon());
    const wrong = bodyLength(request) > 0 ? withBody : refusalOf(request);
    void this.#answer(
      request,
      response,
      () => new UpgradeExchange(request, response, head, this.#context.clock),
      wrong,
    );
  }

  #answer(
    request: IncomingMessage,
    response: ServerResponse,
    exchange: () => Exchange,
    wrong = refusalOf(request),
  ): Promise<void> | undefined {
    this.#unanswered++;
    this.#isRefused ||= wrong !== undefined;
    const run = (): Promise<void> =>
      wrong === undefined ? this.#context.run(exchange()) : sendRefusal(response, wrong);

    let leave = (): void => {};
    const whenLeft = new Promise<void>((resolve) => {
      leave = resolve;
    });
    response.once('close', leave);
    const before = this.#latest?.over;
    const answered = before === undefined ? run() : before.then(() => (isUnsendable(response) ? leave() : run()));
    const whenAnswered = answered.then(() => {
      this.#unanswered--;
      return this.#socket.destroyed ? undefined : whenLeft;
    });
    const latest = { request, over: whenAnswered };
    this.#latest = latest;
    void whenAnswered.then(() => {
      if (this.#latest === latest) this.#latest = undefined;
    });
    return before && answered;
  }

  /** Handles a parser error. */
  unreadable({ code, rawPacket }: ParserError): void {
    if (this.#isRefused) return;
    if (code === 'HPE_PAUSED' && rawPacket !== undefined) readLater(this.#socket, rawPacket);
    else if (!this.#socket.writable) this.#socket.destroy();
    else
      void this.#refuse((code !== undefined && Object.hasOwn(refusals, code) && refusals[code]) || '400 Bad Request');
  }

  /** Refuses further input: completes the earlier responses, then sends the status and closes. */
  async #refuse(status: string): Promise<void> {
    this.#isRefused = true;
    const latest = this.#latest;
    // The unreadable input is the body of the latest request.
    if (latest?.request.complete === false) {
      this.#socket.destroy();
      return;
    }
    stopParsing(this.#socket);
    await latest?.over;
    if (this.#socket.writable) await this.#leave(refusalText(status));
  }

  /** Sends a final text, and closes the connection when the peer has finished sending, or after a timeout. */
  async #leave(text = ''): Promise<void> {
    this.#isRefused = true;
    const socket = this.#socket;
    if (text !== '') socket.write(text);
    socket.end();
    if (socket.readableEnded) return this.#closeWhenSent();
    stopParsing(socket);
    // Discards the input.
    socket.resume();
    const gone = new AbortController();
    socket.once('end', this.#closeWhenSent);
    socket.once('close', () => gone.abort());
    await this.#context.clock.sleep(farewellMs, gone.signal);
    socket.destroy();
  }
}

/**
 * Detaches the parser of Node.js. As long as it is the only listener it bypasses the event; when another is added it
 * becomes a regular listener, and can be removed.
 */
function stopParsing(socket: Socket): void {
  socket.on('data', () => {}).removeAllListeners('data');
}

/**
 * Whether a response can no longer be sent. Node.js assigns a socket to a response before it reports that the earlier
 * ones have been sent. If there is none, the connection is closed, or ends with an earlier response.
 */
const isUnsendable = ({ socket }: ServerResponse): boolean => socket === null;

/**
 * Passes input to the parser of Node.js later. Node.js pauses reading while a response has not been handed to the
 * system, and reports an error if input arrives that TLS had already read: the body of a request that follows a
 * response of 16 KiB at once. The input is passed on when Node.js resumes reading.
 */
function readLater(socket: Socket, bytes: Buffer): void {
  socket.once('resume', () => {
    if (socket.isPaused()) readLater(socket, bytes);
    else socket.emit('data', bytes);
  });
}

interface Refusal {
  readonly code: number;
  readonly text: string;
}

async function sendRefusal(response: ServerResponse, { code, text }: Refusal): Promise<void> {
  const type = text === '' ? {} : { 'content-type': 'text/plain; charset=utf-8' };
  response.writeHead(code, { ...type, 'content-length': Buffer.byteLength(text), connection: 'close' }).end(text);
}

/**
 * The refusal of an Upgrade request with a body: Node.js would read the input after it as the other protocol, and its
 * body as empty.
 */
const withBody: Refusal = { code: 400, text: '400 Bad Request: a request that asks for another protocol has a body' };

/** Returns the refusal of an invalid request; undefined if it is valid. */
function refusalOf(request: IncomingMessage): Refusal | undefined {
  const host = hostProblem(request);
  if (host !== undefined) return { code: 400, text: `400 Bad Request: ${host}` };
  // A proxy in front of this server may decode other encodings, and would then see a different body.
  const coding = request.headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    return { code: 501, text: 'Unsupported transfer encoding' };
  const { expect = '' } = request.headers;
  return expect === '' || expectsContinue(expect) ? undefined : { code: 417, text: '' };
}

/**
 * Returns the error of the Host header. An HTTP/1.1 request has exactly one (RFC 9112 section 3.2); otherwise a proxy
 * and this server could disagree on the host.
 */
function hostProblem({ httpVersionMinor, rawHeaders }: IncomingMessage): string | undefined {
  const hosts = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'host');
  if (hosts.length === 0) return httpVersionMinor === 0 ? undefined : 'missing required Host header';
  if (hosts.length > 1) return 'too many Host headers';
  return hostCharacters.test(hosts[0] ?? '') ? undefined : 'malformed Host header';
}

const hostCharacters = /^[A-Za-z0-9!$%&'()*+,\-.:;=[\]_~]*$/;

const tooMany = '429 Too Many Requests';
const refusals: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

const refusalText = (status: string): string =>
  `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${status}`;
