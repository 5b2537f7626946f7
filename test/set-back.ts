import type { Clock } from '../src/runtime/clock.js';
import { FakeClock } from '../src/testing/fake-clock.js';

/** A fake clock that can be set back. As with the system's, sleeps last as long as they were meant to. */
export class SetBackClock implements Clock {
  readonly #fake = new FakeClock();
  #back = 0;

  now(): number {
    return this.#fake.now() - this.#back;
  }

  monotonic(): number {
    return this.#fake.monotonic();
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return this.#fake.sleep(milliseconds, signal);
  }

  advance(milliseconds: number): Promise<void> {
    return this.#fake.advance(milliseconds);
  }

  setBack(milliseconds: number): void {
    this.#back += milliseconds;
  }
}
