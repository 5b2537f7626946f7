import { createHash } from 'node:crypto';
import type { Clock } from './clock.js';

/** What last succeeded or failed, and when. */
export class LastOutcomes {
  readonly #clock: Clock;
  readonly #seconds = new Map<Outcome, number>();
  #hash: string | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The text that was taken just now; undefined: there was one that could not be. */
  tell(text: string | undefined): void {
    this.#seconds.set(outcome(text !== undefined), this.#clock.now() / 1_000);
    if (text !== undefined) this.#hash = hashOf(text);
  }

  /** The text that counted before anything is told. */
  begin(text: string): void {
    this.#hash = hashOf(text);
  }

  /** Of the text that was taken last. */
  get hash(): string | undefined {
    return this.#hash;
  }

  /** In seconds since the epoch. */
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

/** As labels tell texts apart. */
export const hashOf = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;
