import type { Steps } from '../api/steps.js';
import { runInTurns, TurnTaking } from '../runtime/turn-taking.js';
import type { Backpressure } from './backpressure.js';

type Work = () => Steps<void> | void;

/** The number of queued changes at which the watch that they come from pauses. */
const waitingAtMost = 256;

/**
 * Queues the events of an in-process watch and decodes them in order, in turns of its own, so that watchers over
 * connections come first and decoding holds up nobody. While a large object is decoded or the queue is full, the watch
 * pauses.
 */
export class EventQueue {
  readonly #onError: (error: unknown) => void;
  #waiting: Work[] = [];
  #reading: Promise<void> | undefined;
  #isFull = false;

  constructor(backpressure: Backpressure, onError: (error: unknown) => void) {
    this.#onError = onError;
    backpressure.limit(() => (this.#isFull ? this.#reading : undefined));
  }

  push(work: Work, isLarge = false): void {
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

  /** Also runs what is queued meanwhile. Work that is pushed after the end starts a new run. */
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
