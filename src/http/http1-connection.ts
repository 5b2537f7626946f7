import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../runtime/clock.js';
import type { Exchange } from './exchange.js';
import { expectsContinue } from './header-text.js';
import { bodyLength, Http1Exchange, UpgradeExchange } from './http1-exchange.js';

/** What Node's parser says of a connection that it cannot go on reading. */
export type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

interface Surroundings {
  /** Answers a request; never rejects. */
  readonly run: (exchange: Exchange) => Promise<void>;
  readonly clock: Clock;
}

/** Requests that may come before the first of them is answered. Few clients send any so. */
const pipelinedAtMost = 100;

/**
 * Milliseconds for a peer that still sends to read the last answer. A connection that is closed with something unread on it
 * is reset, and the peer's system then throws away what the peer has not read yet, too.
 */
const farewellMs = 500;

/**
 * One connection over HTTP/1.1. Requests that come before those before them are answered wait for their turn (RFC 9112
 * section 9.3.2): each may rely on what the others did. Until then Node gives an answer no connection, and tells nobody
 * when that closes.
 */
export class Http1Connection {
  readonly #socket: Socket;
  readonly #given: Surroundings;
  readonly #closeWhenSent: () => void;
  /** Requests that are being answered, or wait for it. */
  #unanswered = 0;
  /** The latest request, and when it will have been answered to its end; undefined: nothing is under way. */
  #latest: { readonly request: IncomingMessage; readonly over: Promise<void> } | undefined;
  /** Nothing more is looked at. */
  #isRefused = false;

  constructor(socket: Socket, given: Surroundings) {
    this.#socket = socket;
    this.#given = given;
    this.#closeWhenSent = socket.destroySoon.bind(socket);
    // Node does that behind an answer that is the last.
    socket.destroySoon = () => {
      if (this.#latest?.request.complete === false) void this.#leave();
      else this.#closeWhenSent();
    };
  }

  get isIdle(): boolean {
    return this.#unanswered === 0;
  }

  /** Answers a request when its turn comes: undefined if that is now. */
  take(request: IncomingMessage, response: ServerResponse): Promise<void> | undefined {
    // Nothing is read behind what ended the connection (RFC 9112 section 9.6).
    if (this.#isRefused) return undefined;
    if (this.#unanswered >= pipelinedAtMost) {
      void this.#refuse(tooMany);
      return undefined;
    }
    return this.#answer(request, response, () => new Http1Exchange(request, response, this.#given.clock));
  }

  /** The same of one that asks for another protocol, with what came behind it. It is the last of its connection. */
  async takeUpgrade(request: IncomingMessage, head: Buffer): Promise<void> {
    const socket = this.#socket;
    socket.on('error', () => {});
    // Whoever sends such a request while others are being answered cannot know what will become of it.
    const isEarly = this.#isRefused || !this.isIdle;
    this.#isRefused = true;
    // An answer keeps the connection until the last of it has left.
    if (!isEarly) await this.#latest?.over;
    if (isEarly || !socket.writable) return void socket.destroy();
    const response = new ServerResponse(request);
    response.on('error', () => {});
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    // What Node does for answers to requests that it has not handed over.
    socket.on('drain', () => response.emit('drain'));
    response.once('finish', () => socket.destroySoon());
    const wrong = bodyLength(request) > 0 ? withBody : refusalOf(request);
    void this.#answer(request, response, () => new UpgradeExchange(request, response, head, this.#given.clock), wrong);
  }

  #answer(
    request: IncomingMessage,
    response: ServerResponse,
    exchange: () => Exchange,
    wrong = refusalOf(request),
  ): Promise<void> | undefined {
    this.#unanswered++;
    this.#isRefused ||= wrong !== undefined;
    const run = (): Promise<void> => (wrong === undefined ? this.#given.run(exchange()) : last(response, wrong));

    let leave = (): void => {};
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    response.once('close', leave);
    const before = this.#latest?.over;
    const answered = before === undefined ? run() : before.then(() => (isUnsendable(response) ? leave() : run()));
    const over = answered.then(() => {
      this.#unanswered--;
      return this.#socket.destroyed ? undefined : left;
    });
    const turn = { request, over };
    this.#latest = turn;
    void over.then(() => {
      if (this.#latest === turn) this.#latest = undefined;
    });
    return before && answered;
  }

  /** What comes cannot be read. */
  unreadable({ code, rawPacket }: ParserError): void {
    if (this.#isRefused) return;
    if (code === 'HPE_PAUSED' && rawPacket !== undefined) readLater(this.#socket, rawPacket);
    else if (!this.#socket.writable) this.#socket.destroy();
    else
      void this.#refuse((code !== undefined && Object.hasOwn(refusals, code) && refusals[code]) || '400 Bad Request');
  }

  /** What came before is answered, and then why nothing else is. */
  async #refuse(status: string): Promise<void> {
    this.#isRefused = true;
    const latest = this.#latest;
    // Its own body is what cannot be read.
    if (latest?.request.complete === false) {
      this.#socket.destroy();
      return;
    }
    stopParsing(this.#socket);
    await latest?.over;
    if (this.#socket.writable) await this.#leave(refusalText(status));
  }

  /** Says the last, then goes when the peer has nothing more to say, or after a while. */
  async #leave(text = ''): Promise<void> {
    this.#isRefused = true;
    const socket = this.#socket;
    if (text !== '') socket.write(text);
    socket.end();
    if (socket.readableEnded) return this.#closeWhenSent();
    stopParsing(socket);
    // Thrown away as it comes.
    socket.resume();
    const gone = new AbortController();
    socket.once('end', this.#closeWhenSent);
    socket.once('close', () => gone.abort());
    await this.#given.clock.sleep(farewellMs, gone.signal);
    socket.destroy();
  }
}

/** With somebody else who listens, Node's parser does not take what comes past the listeners, and is one of them. */
function stopParsing(socket: Socket): void {
  socket.on('data', () => {}).removeAllListeners('data');
}

/**
 * When the answers before it have been sent, Node gives an answer its connection before it tells of that. Where it does not,
 * the connection is gone, or ends with the answer before.
 */
const isUnsendable = ({ socket }: ServerResponse): boolean => socket === null;

/**
 * Node reads no further while an answer is not yet with the system, and calls it an error when what TLS had already taken in
 * goes on: the body behind the head of a request that follows an answer of 16 KiB at once. That is handed over when Node
 * goes on.
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

async function last(response: ServerResponse, { code, text }: Refusal): Promise<void> {
  const type = text === '' ? {} : { 'content-type': 'text/plain; charset=utf-8' };
  response.writeHead(code, { ...type, 'content-length': Buffer.byteLength(text), connection: 'close' }).end(text);
}

/** Node reads what follows such a request as the other protocol, and the body as empty. */
const withBody: Refusal = { code: 400, text: '400 Bad Request: a request that asks for another protocol has a body' };

/** What keeps a request from being looked at. */
function refusalOf(request: IncomingMessage): Refusal | undefined {
  const host = hostProblem(request);
  if (host !== undefined) return { code: 400, text: `400 Bad Request: ${host}` };
  // Somebody in front of this server may undo others, and would see another body.
  const coding = request.headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    return { code: 501, text: 'Unsupported transfer encoding' };
  const { expect = '' } = request.headers;
  return expect === '' || expectsContinue(expect) ? undefined : { code: 417, text: '' };
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

const tooMany = '429 Too Many Requests';
const refusals: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

const refusalText = (status: string): string =>
  `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${status}`;
