import type { Readable, Writable } from 'node:stream';
import type { Body } from '../apiserver/represent.js';
import type { Peer } from './peer.js';
import type { WebSocketOffer } from './web-socket.js';

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
  readonly responseStarted: boolean;
  /** The answer was broken off, because nobody took it, or not in time. */
  readonly isStalled: boolean;
  /**
   * Sends a whole answer; if that takes a while, resolves when the last of it was handed over, or nobody reads any
   * more. `deadline`: when (of the clock's `monotonic`) it is broken off.
   */
  send(code: number, headers: OutgoingHeaders, body: Body | StreamedBody, deadline?: number): Promise<void> | undefined;
  /** Begins an answer that goes on; headers are sent at once. */
  stream(code: number, headers: OutgoingHeaders): Writable;
  /** An answer that goes on may be sent as messages instead. */
  readonly webSocket?: WebSocketOffer | undefined;
  /** Said before an answer: the connection ends with it. */
  closeAfterResponse(): void;
  /** Breaks off. */
  abort(): void;
}

/** A body of unknown length. */
export interface StreamedBody {
  readonly chunks: AsyncIterable<Buffer>;
}

/** An exchange may change what it is given. */
export type OutgoingHeaders = Record<string, string | number | readonly string[]>;
