import type { Clock } from '../runtime/clock.js';

interface Sleeper {
  at: number;
  readonly wake: () => void;
}

/** A clock that stands still until it is told to advance. */
export class FakeClock implements Clock {
  #start: number;
  #now: number;
  #sleepers: readonly Sleeper[] = [];

  constructor(now: number = Date.UTC(2026, 0, 1)) {
    this.#start = now;
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now - this.#start;
  }

  /** Sets the time of day, as somebody does whose clock was wrong: no time passes, and who sleeps sleeps as long. */
  set(now: number): void {
    const ahead = now - this.#now;
    this.#now += ahead;
    this.#start += ahead;
    for (const sleeper of this.#sleepers) sleeper.at += ahead;
  }

  /** How many sleep now. */
  get sleeping(): number {
    return this.#sleepers.length;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = (): void => {
        this.#sleepers = this.#sleepers.filter((one) => one !== sleeper);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const sleeper: Sleeper = { at: this.#now + Math.max(0, milliseconds), wake: done };
      this.#sleepers = [...this.#sleepers, sleeper];
      signal?.addEventListener('abort', done, { once: true });
    });
  }

  /**
   * Moves time on, waking sleepers in their order; what they set off has run when it resolves. Fails where time would
   * not go on; `set` is what puts a clock back.
   */
  async advance(milliseconds: number): Promise<void> {
    if (!(Number.isFinite(milliseconds) && milliseconds >= 0))
      throw new Error(`a clock advances by a number of milliseconds from 0 on, not by ${milliseconds}`);
    const end = this.#now + milliseconds;
    await settled();
    while (true) {
      const next = this.#sleepers.reduce<Sleeper | undefined>(
        (first, one) => (first === undefined || one.at < first.at ? one : first),
        undefined,
      );
      if (next === undefined || next.at > end) break;
      this.#now = Math.max(this.#now, next.at);
      next.wake();
      await settled();
    }
    this.#now = end;
    await settled();
  }
}

/** Resolves when everything that needs no time to pass has run. */
export async function settled(): Promise<void> {
  for (let round = 0; round < 5; round++) await new Promise((resolve) => setImmediate(resolve));
}
