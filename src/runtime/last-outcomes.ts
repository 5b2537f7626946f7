import { createHash } from 'node:crypto';
import type { Clock } from './clock.js';

/** Records the last success and the last failure, and their times. */
export class LastOutcomes {
  readonly #clock: Clock;
  readonly #seconds = new Map<Outcome, number>();
  #hash: string | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records that a text was accepted now, or with undefined, that one was rejected. */
  tell(text: string | undefined): void {
    this.#seconds.set(outcome(text !== undefined), this.#clock.now() / 1_000);
    if (text !== undefined) this.#hash = hashOf(text);
  }

  /** Sets the text in use at the start, without recording an outcome. */
  begin(text: string): void {
    this.#hash = hashOf(text);
  }

  /** The hash of the text accepted last. */
  get hash(): string | undefined {
    return this.#hash;
  }

  /** The time of each outcome's last occurrence, in seconds since the epoch. */
  get times(): readonly (readonly [Outcome, number])[] {
    return outcomes.flatMap((one) => {
      const time = this.#seconds.get(one);
      return time === undefined ? [] : [[one, time] as const];
    });
  }
}

type Outcome = 'success' | 'failure';
const outcomes: readonly Outcome[] = ['success', 'failure'];

export const outcome = (isGood: boolean): Outcome => (isGood ? 'success' : 'failure');

/** Returns the hash of a text as metric labels have it. */
export const hashOf = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;
