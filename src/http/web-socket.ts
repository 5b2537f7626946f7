import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import type { WebSocket } from 'ws';
import { parseGoRequestUrl } from '../api/go-url.js';
import { withoutCredentials } from '../apiserver/without-credentials.js';

/** A request for a streamed response as WebSocket messages (RFC 6455). */
export interface WebSocketOffer {
  /** The refusal of the handshake; undefined if it can be accepted. */
  readonly refusal: HandshakeRefusal | undefined;
  /**
   * Switches protocols. Everything written is then sent as messages, one for each event of a watch: text messages if
   * events are lines, or binary ones with `binary`, if each event has a length prefix. Input from the caller is
   * ignored.
   */
  accept(form: { readonly binary: boolean }): Promise<Writable>;
}

export interface HandshakeRefusal {
  readonly code: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** The maximum length of a message from the caller, in bytes. No watch client needs a longer one. */
const longestReceived = 65_536;

/** Whether a request is for a WebSocket, by the rules of kube-apiserver. */
export const isWebSocketRequest = ({ headers, method }: IncomingMessage): boolean =>
  method === 'GET' &&
  headers.upgrade?.toLowerCase() === 'websocket' &&
  (headers.connection?.toLowerCase().includes('upgrade') ?? false);

/**
 * Returns the refusal of a handshake, or undefined, with the conditions and texts of kube-apiserver, which requires an
 * origin and chooses no protocol.
 */
export function handshakeRefusal({ headers }: IncomingMessage): HandshakeRefusal | undefined {
  const refused = (code: number, text: string, more = {}): HandshakeRefusal => ({ code, headers: more, text });
  if (headers['sec-websocket-version'] !== '13')
    return refused(400, 'missing or bad WebSocket Version', { 'Sec-WebSocket-Version': '13' });
  if (!/^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? ''))
    return refused(400, 'mismatch challenge/response');
  if (!headers.origin || 'wrong' in parseGoRequestUrl(headers.origin)) return refused(403, '');
  return protocolsOf(headers['sec-websocket-protocol']).length > 1 ? refused(400, '') : undefined;
}

/** Returns the protocols as kube-apiserver counts them: empty entries are dropped only if a token is removed as well. */
function protocolsOf(header = ''): readonly string[] {
  const all = header.trim() === '' ? [] : header.split(',').map((protocol) => protocol.trim());
  const named = (withoutCredentials('sec-websocket-protocol', header) ?? '')
    .split(',')
    .filter((protocol) => protocol !== '');
  return all.filter((protocol) => protocol !== '').length > named.length ? named : all;
}

/** Switches a connection to a WebSocket whose handshake is not refused. `head` is the input after the request. */
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
    // No callback follows if the package refuses the handshake or the connection is closed already.
    const gone = (): void => resolve(new Writable().destroy());
    socket.once('close', gone);
    server.handleUpgrade(request, socket, head, (webSocket) => resolve(new Messages(webSocket, socket, binary)));
    if (socket.destroyed) gone();
  });
}

/** Sends what is written as messages. An event may be written in several chunks, but no chunk contains parts of two events. */
class Messages extends Writable {
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  readonly #binary: boolean;
  /**
   * The received part of the length prefix of a binary event. `#missing` is the number of bytes of that event that have
   * not been written yet.
   */
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
    // Closes without waiting for the caller's close frame, as kube-apiserver does.
    this.#socket.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.writableFinished) this.#webSocket.terminate();
    done(error);
  }

  /** Returns the part of a chunk that belongs to an event; undefined if there is none yet. */
  #afterLength(chunk: Buffer): Buffer | undefined {
    let payload = chunk;
    if (this.#missing === 0) {
      const missingBytes = lengthBytes - this.#length.length;
      this.#length = Buffer.concat([this.#length, chunk.subarray(0, missingBytes)]);
      if (this.#length.length < lengthBytes) return undefined;
      this.#missing = this.#length.readUInt32BE(0);
      this.#length = Buffer.alloc(0);
      payload = chunk.subarray(missingBytes);
    }
    this.#missing -= payload.length;
    return payload.length === 0 ? undefined : payload;
  }
}

const newline = 0x0a;
const lengthBytes = 4;
const ignore = (): void => {};
