import type { Clock } from '../../runtime/clock.js';
import { Deadlines } from '../operations/deadlines.js';

/** So long one write waits for another of the same object, in milliseconds, before it goes on regardless. */
const patienceMs = 500;

/**
 * Lets those who change one object do so one after the other. Nothing depends on it, because a change that another
 * overtook begins again; but it would begin again for nearly all of them when many write the same object, with all the
 * work there was for nothing.
 */
export class WriteQueue {
  /** By key, when the last who came will have done. */
  readonly #last = new Map<string, Promise<void>>();
  readonly #patience: Deadlines;

  constructor(clock: Clock, signal: AbortSignal) {
    this.#patience = new Deadlines(clock, patienceMs, signal);
  }

  /** Does the work once all who came before are through with the object, or take too long. */
  async run<R>(key: string, work: () => Promise<R>): Promise<R> {
    const before = this.#last.get(key);
    let leave = (): void => {};
    const over = new Promise<void>((resolve) => {
      leave = resolve;
    });
    this.#last.set(key, over);
    try {
      if (before !== undefined) await this.#patience.within(patienceMs, before, () => undefined);
      return await work();
    } finally {
      if (this.#last.get(key) === over) this.#last.delete(key);
      leave();
    }
  }
}
