import type { Writable } from 'node:stream';
import type { Clock } from '../runtime/clock.js';

/** The number of bytes handed to the stream at a time. They count as drained only when all of them are. */
const atOnce = 65_536;
/** The time after which a reader that reads nothing is disconnected, in milliseconds. */
const patienceMs = 30_000;

export interface WriteLimits {
  readonly clock: Clock;
  /** The time when the reader is disconnected even if it makes progress, in milliseconds of the clock's `monotonic`. */
  readonly deadline?: number | undefined;
  /** Aborts the response. */
  abort(): void;
}

/**
 * Writes to a slow reader in portions, to distinguish it from one that reads nothing: Node.js would write everything
 * queued as one chunk and report progress only at its end.
 */
export class PacedWriter {
  readonly #out: Writable;
  readonly #clock: Clock;
  readonly #deadline: number;
  readonly #abort: () => void;
  #queue: Buffer[] = [];
  #queued = 0;
  #isEnding = false;
  /** The total number of bytes passed to `write`. */
  #total = 0;
  #taking: Promise<void> | undefined;
  #onRoom = (): void => {};
  /** Aborted when the stream is over; undefined until `drained` is first called. */
  #following: AbortSignal | undefined;
  #isLooking = false;

  constructor(out: Writable, { clock, deadline = Number.POSITIVE_INFINITY, abort }: WriteLimits) {
    this.#out = out;
    this.#clock = clock;
    this.#deadline = deadline;
    this.#abort = abort;
  }

  /** Whether nothing more can be written. */
  get isOver(): boolean {
    return this.#isEnding || this.#out.destroyed || this.#out.writableEnded;
  }

  /** The number of bytes that were written and not read yet. */
  get waiting(): number {
    return this.#queued + this.#out.writableLength;
  }

  /** Queues bytes. Returns false if the caller should wait for `drained` before writing more. */
  write(bytes: Buffer): boolean {
    this.#total += bytes.length;
    if (this.#queued === 0 && this.#out.writableLength + bytes.length <= atOnce) return this.#out.write(bytes);
    const isFirst = this.#queued === 0;
    this.#queue.push(bytes);
    this.#queued += bytes.length;
    if (isFirst) this.#handOver();
    return false;
  }

  /** Ends the stream after the queued bytes; a reader that does not read them is disconnected. */
  end(): void {
    this.#isEnding = true;
    if (this.#queued === 0) this.#out.end();
    if (this.waiting > 0) void this.drained();
  }

  /**
   * Resolves when there is room again (nothing is queued, and the stream accepts more), or when the stream is closed.
   * The stream is aborted if no bytes are read for too long.
   */
  drained(): Promise<void> {
    if (this.#out.destroyed || this.waiting === 0) return Promise.resolve();
    this.#following ??= this.#follow();
    if (!this.#isLooking) void this.#abortIfStuck(this.#following);
    this.#taking ??= new Promise((resolve) => {
      this.#onRoom = () => {
        this.#taking = undefined;
        resolve();
      };
    });
    return this.#taking;
  }

  #handOver(): void {
    if (this.#out.destroyed) return;
    let space = atOnce;
    let at = 0;
    while (space > 0 && at < this.#queue.length) {
      const bytes = this.#queue[at] as Buffer;
      const part = bytes.length <= space ? bytes : bytes.subarray(0, space);
      if (part === bytes) at++;
      else this.#queue[at] = bytes.subarray(part.length);
      space -= part.length;
      this.#queued -= part.length;
      const isLast = space === 0 || at === this.#queue.length;
      this.#out.write(part, isLast ? () => this.#onTaken() : undefined);
    }
    this.#queue = this.#queue.slice(at);
    if (this.#queued === 0 && this.#isEnding) this.#out.end();
  }

  /** Runs when the stream has drained what was handed over. */
  #onTaken(): void {
    if (this.#queued > 0) this.#handOver();
    else this.#onRoom();
  }

  #follow(): AbortSignal {
    const ended = new AbortController();
    this.#out.on('drain', () => {
      // Ignored while bytes are queued. Over HTTP/1.1 some written bytes may still be in flight, and no other event
      // follows.
      if (this.#queued === 0) this.#onRoom();
    });
    for (const event of ['finish', 'close']) {
      this.#out.once(event, () => {
        ended.abort();
        this.#onRoom();
      });
    }
    return ended.signal;
  }

  /**
   * Watches the progress as long as anything waits: one timer for the whole response, because one for each portion
   * would cost more than writing it.
   */
  async #abortIfStuck(ended: AbortSignal): Promise<void> {
    this.#isLooking = true;
    while (this.waiting > 0) {
      const sent = this.#total - this.waiting;
      const leftMs = this.#deadline - this.#clock.monotonic();
      await this.#clock.sleep(Math.min(patienceMs, leftMs), ended);
      if (ended.aborted) return;
      const isStuck = this.waiting > 0 && this.#total - this.waiting === sent;
      if (isStuck || leftMs <= patienceMs) return this.#abort();
    }
    this.#isLooking = false;
  }
}
