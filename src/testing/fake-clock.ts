import type { Clock } from '../runtime/clock.js';
import { setImmediate } from '../runtime/event-loop.js';

interface Sleeper {
  at: number;
  readonly wake: () => void;
}

/** A clock that stands still until it is advanced. */
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

  /** Sets the time of day like correcting a wrong clock: no time passes, and sleepers sleep as long as before. */
  set(now: number): void {
    const ahead = now - this.#now;
    this.#now += ahead;
    this.#start += ahead;
    for (const sleeper of this.#sleepers) sleeper.at += ahead;
  }

  /** The number of pending sleeps. */
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
   * Advances the time, waking sleepers in order; work that they start has run when it resolves. Fails if the time would
   * not move forward; use `set` to set the clock back.
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
   * Advances the time in one leap, like a machine that was suspended: sleepers due meanwhile wake at the end, in order,
   * and new sleeps begin there. For days and months, where `advance` would simulate every minute.
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
      throw new Error(`a clock advances by a non-negative number of milliseconds, not by ${milliseconds}`);
    return this.#now + milliseconds;
  }
}

/** Resolves when all work that does not wait for time has run. */
export async function settled(): Promise<void> {
  for (let round = 0; round < 5; round++) await new Promise((resolve) => setImmediate(resolve));
}
