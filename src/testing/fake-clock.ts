import type { Clock } from '../runtime/clock.js';
import { setImmediate } from '../runtime/event-loop.js';

interface Sleeper {
  at: number;
  readonly wake: () => void;
}

/** A clock that stands still until it is told to advance. */
export class FakeClock implements Clock {
  #start: number;
  #now: number;
  readonly #sleepers = new Set<Sleeper>();

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
    return this.#sleepers.size;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = (): void => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const sleeper: Sleeper = { at: this.#now + Math.max(0, milliseconds), wake: done };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', done, { once: true });
    });
  }

  /**
   * Moves time on, waking sleepers in their order; what they set off has run when it resolves. Fails where time would
   * not go on; `set` is what puts a clock back.
   */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#endOf(milliseconds);
    await settled();
    for (let next = this.#next(); next !== undefined && next.at <= end; next = this.#next()) {
      this.#now = Math.max(this.#now, next.at);
      next.wake();
      await settled();
    }
    this.#now = end;
    await settled();
  }

  /**
   * Moves time on in one leap, as it is for a machine that was suspended: who was to wake meanwhile wakes at the end, in
   * order, and whoever sleeps again sleeps from there. For days and months, of which `advance` plays every minute.
   */
  async jump(milliseconds: number): Promise<void> {
    const end = this.#endOf(milliseconds);
    await settled();
    this.#now = end;
    await this.advance(0);
  }

  #next(): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const one of this.#sleepers) if (first === undefined || one.at < first.at) first = one;
    return first;
  }

  #endOf(milliseconds: number): number {
    if (!(Number.isFinite(milliseconds) && milliseconds >= 0))
      throw new Error(`a clock advances by a number of milliseconds from 0 on, not by ${milliseconds}`);
    return this.#now + milliseconds;
  }
}

/** Resolves when everything that needs no time to pass has run. */
export async function settled(): Promise<void> {
  for (let round = 0; round < 5; round++) await new Promise((resolve) => setImmediate(resolve));
}
