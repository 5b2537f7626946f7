import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { Body } from '../apiserver/represent.js';
import type { Clock } from '../runtime/clock.js';
import type { Exchange, OutgoingHeaders, StreamedBody } from './exchange.js';
import { expectsContinue, firstValue, originForm } from './header-text.js';
import { type Peer, peerOf } from './peer.js';
import { acceptWebSocket, handshakeRefusal, isWebSocketRequest, type WebSocketOffer } from './web-socket.js';
import { writeBody } from './write-body.js';

/**
 * A request over HTTP/1.1. It is a class because thousands are created per second, and closures would be created for
 * each.
 */
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

  /** Sends `100 Continue` if the client waits for it. Without it, Node.js closes the connection after answering. */
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

  get responseStarted(): boolean {
    return this.#response.headersSent;
  }

  get isStalled(): boolean {
    return this.#stuck;
  }

  send(
    code: number,
    headers: OutgoingHeaders,
    body: Body | StreamedBody,
    deadline?: number,
  ): Promise<void> | undefined {
    // The rest of a large body would have to be read before the next request.
    if (!this.#request.complete && bodyLength(this.#request) > smallBody) this.closeAfterResponse();
    this.#keepOpen();
    this.#response.writeHead(code, headers as Record<string, string | number | string[]>);
    return writeBody(body, this.#response, { clock: this.#clock, deadline, abort: () => this.#giveUp() });
  }

  /** Keeps the connection open. Node.js waits for the body of a request with `Expect` even if it is empty. */
  #keepOpen(): void {
    if (bodyLength(this.#request) === 0) this.#askForBody();
  }

  stream(code: number, headers: OutgoingHeaders): Writable {
    this.#keepOpen();
    this.#response.writeHead(code, headers as Record<string, string | number | string[]>);
    // `flushHeaders` would encode the headers as UTF-8, but each character already is a byte of UTF-8.
    this.#response.write('', 'latin1');
    return this.#response;
  }

  closeAfterResponse(): void {
    this.#response.setHeader('Connection', 'close');
  }

  abort(): void {
    this.#response.destroy();
  }

  #giveUp(): void {
    this.#stuck = true;
    this.abort();
  }
}

/**
 * A request for another protocol (`Upgrade`). No HTTP request follows it on the connection. It is answered like any
 * other, unless it is for a WebSocket that is accepted.
 */
export class UpgradeExchange extends Http1Exchange {
  readonly webSocket: WebSocketOffer | undefined;
  readonly #response: ServerResponse;
  readonly #socket: Socket;
  /** The WebSocket messages, once the protocol has been switched. */
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

  override get responseStarted(): boolean {
    return this.#messages !== undefined || super.responseStarted;
  }

  override abort(): void {
    this.#socket.destroy();
  }
}

/** Returns the length of the body in bytes; infinite if the headers do not give it. */
export const bodyLength = ({ headers }: IncomingMessage): number =>
  headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.POSITIVE_INFINITY;

const smallBody = 262_144;
