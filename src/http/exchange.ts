import type { Readable, Writable } from 'node:stream';
import type { Body } from '../apiserver/represent.js';
import type { Peer } from './peer.js';
import type { WebSocketOffer } from './web-socket.js';

/** One request and its response, over HTTP/1.1 or HTTP/2. */
export interface Exchange {
  /** The major version of HTTP. */
  readonly version: 1 | 2;
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  /** Returns the first (or joined) value of a header. */
  header(name: string): string | undefined;
  /** Alternating names (as sent) and values, including repeated headers. */
  readonly rawHeaders: readonly string[];
  readonly body: Readable;
  readonly peer: Peer;
  /** Calls the listener when the caller disconnects before the response is complete. */
  onClosed(listener: () => void): void;
  readonly responseStarted: boolean;
  /** Whether the response was aborted because the caller did not read it, or not in time. */
  readonly isStalled: boolean;
  /**
   * Sends a complete response. If that takes time, resolves when all of it was handed over or the caller has
   * disconnected. `deadline` is the time when it is aborted, in milliseconds of the clock's `monotonic`.
   */
  send(code: number, headers: OutgoingHeaders, body: Body | StreamedBody, deadline?: number): Promise<void> | undefined;
  /** Starts a streamed response; the headers are sent immediately. */
  stream(code: number, headers: OutgoingHeaders): Writable;
  /** Present if the caller asks for a streamed response as WebSocket messages. */
  readonly webSocket?: WebSocketOffer | undefined;
  /** Makes the connection close after the response; call it before sending one. */
  closeAfterResponse(): void;
  /** Aborts the response. */
  abort(): void;
}

/** A body of unknown length. */
export interface StreamedBody {
  readonly chunks: AsyncIterable<Buffer>;
}

/** Response headers. An exchange may modify the object it is passed. */
export type OutgoingHeaders = Record<string, string | number | readonly string[]>;
