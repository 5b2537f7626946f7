import type { Steps } from '../api/steps.js';
import { runInTurns, TurnTaking } from '../runtime/turn-taking.js';
import type { Backpressure } from './backpressure.js';

type QueuedWork = () => Steps<void> | void;

/** The number of queued changes at which the underlying watch pauses. */
const waitingAtMost = 256;

/**
 * Queues the events of a watch in this process and decodes them in order, in separate turns, so that watchers over
 * connections come first and decoding delays no other work. While a large object is decoded or the queue is full, the
 * watch pauses.
 */
export class EventQueue {
  readonly #onError: (error: unknown) => void;
  #waiting: QueuedWork[] = [];
  #reading: Promise<void> | undefined;
  #isFull = false;

  constructor(backpressure: Backpressure, onError: (error: unknown) => void) {
    this.#onError = onError;
    backpressure.limit(() => (this.#isFull ? this.#reading : undefined));
  }

  push(work: QueuedWork, isLarge = false): void {
    this.#waiting.push(work);
    this.#isFull ||= isLarge || this.#waiting.length >= waitingAtMost;
    this.#reading ??= this.#read();
  }

  async #read(): Promise<void> {
    const turns = new TurnTaking();
    await turns.next();
    try {
      await runInTurns(this.#readAll(), turns);
    } catch (error) {
      this.#onError(error);
    }
  }

  /**
   * Reads everything in the queue, including what is pushed meanwhile. Work that is pushed after the end starts a new
   * run.
   */
  *#readAll(): Steps<void> {
    try {
      for (let at = 0; at < this.#waiting.length; at++) {
        const steps = this.#waiting[at]?.();
        if (steps !== undefined) yield* steps;
        yield;
      }
    } finally {
      this.#waiting = [];
      this.#isFull = false;
      this.#reading = undefined;
    }
  }
}
