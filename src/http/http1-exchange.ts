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
    // What is still to come of a large body would have to be read to its end before the next request.
    if (!this.#request.complete && bodyLength(this.#request) > smallBody) this.closeAfterResponse();
    this.#keepOpen();
    this.#response.writeHead(code, headers as Record<string, string | number | string[]>);
    return writeBody(body, this.#response, { clock: this.#clock, deadline, abort: () => this.#giveUp() });
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

  override get responseStarted(): boolean {
    return this.#messages !== undefined || super.responseStarted;
  }

  override abort(): void {
    this.#socket.destroy();
  }
}

/** Bytes of its body, as far as the head tells. */
export const bodyLength = ({ headers }: IncomingMessage): number =>
  headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.POSITIVE_INFINITY;

const smallBody = 262_144;
