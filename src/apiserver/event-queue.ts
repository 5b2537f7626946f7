import type { Steps } from '../api/steps.js';
import { runInTurns, TurnTaking } from '../runtime/turn-taking.js';
import type { Backpressure } from './backpressure.js';

type Work = () => Steps<void> | void;

/** So many changes may wait for a reader here; then the watch they come from waits. */
const waitingAtMost = 256;

/**
 * Takes what a watch sends, in its order, in turns of its own: first of all those who watch over a connection are told,
 * and nobody is held up by objects being read. While a large one is, or much waits, the watch waits too.
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

  /** Also what comes meanwhile: whatever comes once this has ended is another reading's, and not a turn later. */
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
