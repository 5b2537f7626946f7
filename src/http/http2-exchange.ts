import {
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Readable, Writable } from 'node:stream';
import type { Body } from '../apiserver/represent.js';
import type { Clock } from '../runtime/clock.js';
import type { Exchange, OutgoingHeaders, StreamedBody } from './exchange.js';
import { expectsContinue, firstValue, targetText } from './header-text.js';
import { type Peer, peerOf, unknownPeer } from './peer.js';
import { writeBody } from './write-body.js';

/** An HTTP/2 stream. */
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
    // The stream loses its session when the session ends.
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

  /** Sends `100 Continue` if the client waits for it. */
  #askForBody(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    const stream = this.#stream;
    if (expectsContinue(this.#headers.expect) && !stream.headersSent && !stream.destroyed && !stream.closed)
      stream.additionalHeaders({ ':status': 100 });
  }

  get peer(): Peer {
    const session = this.#session;
    return session === undefined || session.destroyed ? unknownPeer : peerOf(session, session.socket);
  }

  onClosed(listener: () => void): void {
    // Node.js ends the stream itself before 'close', so that 'close' would not show whether it was answered.
    this.#stream.once('aborted', listener);
  }

  get responseStarted(): boolean {
    return this.#stream.headersSent;
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
    const stream = this.#stream;
    if (stream.destroyed || stream.closed) return undefined;
    this.#respond(code, headers);
    // The rest of the request body is not wanted.
    if (!stream.endAfterHeaders && !stream.readableEnded) {
      stream.once('finish', () => stream.close(constants.NGHTTP2_NO_ERROR));
    }
    const written = writeBody(body, stream, { clock: this.#clock, deadline, abort: () => this.#giveUp() });
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
    // HTTP/1.1 says this in a header, HTTP/2 by ending the session (RFC 9113 section 8.2.2).
    if (headers['Connection'] === 'close') this.closeAfterResponse();
    delete headers['Connection'];
    this.#stream.respond(headers as OutgoingHttpHeaders);
  }

  closeAfterResponse(): void {
    this.#isLast = true;
  }

  abort(): void {
    // `close` would wait for a reader that may never come, and without an error this would look like a complete
    // response.
    this.#stream.destroy(brokenOff);
  }

  #giveUp(): void {
    this.#stuck = true;
    this.abort();
  }
}

const brokenOff = new Error('the answer was aborted');
