import { setImmediate } from 'node:timers/promises';

/** Steps of work that took this long together, in milliseconds, are followed by a turn for everybody else. */
const longMs = 8;

/**
 * Keeps a request whose object is large from holding up all others. Asked between two steps of its work; as long as
 * they were short, asking costs next to nothing.
 */
export class TurnTaking {
  #since = performance.now();

  get isDue(): boolean {
    return performance.now() - this.#since > longMs;
  }

  /** Lets everybody else have a turn. */
  async next(): Promise<void> {
    await setImmediate();
    this.#since = performance.now();
  }
}
