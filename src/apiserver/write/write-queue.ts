import type { Clock } from '../../runtime/clock.js';
import { Deadlines } from '../operations/deadlines.js';

/** The time that a write waits for others of the same object before it continues regardless, in milliseconds. */
const patienceMs = 500;

/**
 * Serialises writes of the same object. This is only an optimisation: a write with a conflict is retried anyway, but
 * with many concurrent writers nearly all of them would do their work in vain.
 */
export class WriteQueue {
  /** Promises by key, which resolve when the latest write is done. */
  readonly #last = new Map<string, Promise<void>>();
  readonly #patience: Deadlines;

  constructor(clock: Clock, signal: AbortSignal) {
    this.#patience = new Deadlines(clock, patienceMs, signal);
  }

  /** Runs the work once all earlier writes of the object are done or have taken too long. */
  async run<R>(key: string, work: () => Promise<R>): Promise<R> {
    const before = this.#last.get(key);
    let leave = (): void => {};
    const done = new Promise<void>((resolve) => {
      leave = resolve;
    });
    this.#last.set(key, done);
    try {
      if (before !== undefined) await this.#patience.within(patienceMs, before, () => undefined);
      return await work();
    } finally {
      if (this.#last.get(key) === done) this.#last.delete(key);
      leave();
    }
  }
}
