import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import type { WebSocket } from 'ws';
import { parseGoRequestUrl } from '../api/go-url.js';
import { withoutCredentials } from '../apiserver/without-credentials.js';

/** A caller asks to be sent an answer that goes on as messages of a WebSocket (RFC 6455). */
export interface WebSocketOffer {
  /** Why that cannot be; undefined: it can. */
  readonly refusal: HandshakeRefusal | undefined;
  /**
   * Switches protocols. What is written then is sent as messages, the events of a watch one each: text where they are
   * lines, `binary` where each is behind its length. What the caller sends is passed over.
   */
  accept(form: { readonly binary: boolean }): Promise<Writable>;
}

export interface HandshakeRefusal {
  readonly code: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** More than that nobody has to say to a watch. */
const longestReceived = 65_536;

/** Does the request ask for a WebSocket? As kube-apiserver tells it. */
export const isWebSocketRequest = ({ headers, method }: IncomingMessage): boolean =>
  method === 'GET' &&
  headers.upgrade?.toLowerCase() === 'websocket' &&
  (headers.connection?.toLowerCase().includes('upgrade') ?? false);

/** The conditions and texts of kube-apiserver, which demands an origin and chooses no protocol. */
export function handshakeRefusal({ headers }: IncomingMessage): HandshakeRefusal | undefined {
  const refused = (code: number, text: string, more = {}): HandshakeRefusal => ({ code, headers: more, text });
  if (headers['sec-websocket-version'] !== '13')
    return refused(400, 'missing or bad WebSocket Version', { 'Sec-WebSocket-Version': '13' });
  if (!/^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? ''))
    return refused(400, 'mismatch challenge/response');
  if (!headers.origin || 'wrong' in parseGoRequestUrl(headers.origin)) return refused(403, '');
  return protocolsOf(headers['sec-websocket-protocol']).length > 1 ? refused(400, '') : undefined;
}

/** As kube-apiserver counts them, which leaves out what is empty only where a token is left out as well. */
function protocolsOf(header = ''): readonly string[] {
  const all = header.trim() === '' ? [] : header.split(',').map((protocol) => protocol.trim());
  const named = (withoutCredentials('sec-websocket-protocol', header) ?? '')
    .split(',')
    .filter((protocol) => protocol !== '');
  return all.filter((protocol) => protocol !== '').length > named.length ? named : all;
}

/** Switches a connection to a WebSocket whose handshake is not refused. `head`: what came behind the request. */
export async function acceptWebSocket(
  request: IncomingMessage,
  { socket, head, binary }: { readonly socket: Socket; readonly head: Buffer; readonly binary: boolean },
): Promise<Writable> {
  const { WebSocketServer } = await import('ws');
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: longestReceived,
    handleProtocols: () => protocolsOf(request.headers['sec-websocket-protocol'])[0] ?? false,
  });
  return new Promise((resolve) => {
    // Of a handshake that the package refuses, and of a connection that is gone already, nobody is told.
    const gone = (): void => resolve(new Writable().destroy());
    socket.once('close', gone);
    server.handleUpgrade(request, socket, head, (webSocket) => resolve(new Messages(webSocket, socket, binary)));
    if (socket.destroyed) gone();
  });
}

/** Sends what is written as messages. Bytes of one event may come in several portions, those of two never in one. */
class Messages extends Writable {
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  readonly #binary: boolean;
  /** Of the length before a binary event, what has come; and bytes of that event that are still to come. */
  #length: Buffer = Buffer.alloc(0);
  #missing = 0;

  constructor(webSocket: WebSocket, socket: Socket, binary: boolean) {
    super();
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#binary = binary;
    this.on('error', ignore);
    webSocket.on('error', ignore);
    webSocket.on('close', () => this.destroy());
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    const payload = this.#binary ? this.#afterLength(chunk) : chunk;
    const fin = this.#binary ? this.#missing === 0 : chunk.at(-1) === newline;
    if (payload === undefined) done();
    else this.#webSocket.send(payload, { binary: this.#binary, fin }, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#webSocket.close(1000);
    // As kube-apiserver does, without waiting for the caller to take leave.
    this.#socket.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.writableFinished) this.#webSocket.terminate();
    done(error);
  }

  /** What belongs to an event; undefined if that is nothing yet. */
  #afterLength(chunk: Buffer): Buffer | undefined {
    let payload = chunk;
    if (this.#missing === 0) {
      const lacking = lengthBytes - this.#length.length;
      this.#length = Buffer.concat([this.#length, chunk.subarray(0, lacking)]);
      if (this.#length.length < lengthBytes) return undefined;
      this.#missing = this.#length.readUInt32BE(0);
      this.#length = Buffer.alloc(0);
      payload = chunk.subarray(lacking);
    }
    this.#missing -= payload.length;
    return payload.length === 0 ? undefined : payload;
  }
}

const newline = 0x0a;
const lengthBytes = 4;
const ignore = (): void => {};
