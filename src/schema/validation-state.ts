import { type CauseReason, invalid, maxViolationChars, maxViolations, type Violation } from '../api/violations.js';
import { Ratchet } from './ratchet.js';

/** A failure with a path relative to the validated value. */
export interface ValidationFailure {
  /** Relative path; absent for failures that carry no field. */
  readonly field: string | undefined;
  readonly reason: CauseReason;
  readonly body: string;
  /** Text length of this failure and all before it. */
  readonly textLength: number;
}

/** Checks per step. */
const checksInStep = 500;

/** The state of a validation: current path, failures so far, and checks since the last step. */
export class ValidationState {
  readonly path: (string | number)[] = [];
  readonly ratchet = new Ratchet();
  #failures: ValidationFailure[] = [];
  #spent = 0;

  /** The path as text. */
  get text(): string {
    let out = '';
    for (const segment of this.path) {
      if (typeof segment === 'number') out += `[${segment}]`;
      else out += out === '' ? segment : `.${segment}`;
    }
    return out;
  }

  get failures(): readonly ValidationFailure[] {
    return this.#failures;
  }

  /** Records a failure at the current path, unless the limit is reached. */
  fail(make: (path: string) => Violation): void {
    if (this.#isFull) return;
    const { text } = this;
    this.#note(text, make(text));
  }

  /** Records a failure without a field. */
  failWithoutField(detail: (path: string) => string): void {
    if (!this.#isFull) this.#note(undefined, invalid('', '', detail(this.text)));
  }

  /** Records failures that `collectApart` collected. */
  addAll(failures: readonly ValidationFailure[]): void {
    for (const failure of failures) this.#note(failure.field, failure);
  }

  /** Keeps only the first `count` failures. */
  truncate(count: number): void {
    this.#failures.length = count;
  }

  /** Collects failures separately from now on; the returned function ends that and returns them. */
  collectApart(): () => readonly ValidationFailure[] {
    const outer = this.#failures;
    this.#failures = [];
    return () => {
      const apart = this.#failures;
      this.#failures = outer;
      return apart;
    };
  }

  /** Counts this many checks. */
  spend(checks: number): void {
    this.#spent += checks;
  }

  /** Counts one check. Returns whether it is time for a step. */
  isStep(): boolean {
    if (++this.#spent < checksInStep) return false;
    this.#spent = 0;
    return true;
  }

  get #isFull(): boolean {
    return this.#failures.length >= maxViolations || this.#reportedChars > maxViolationChars;
  }

  get #reportedChars(): number {
    return this.#failures.at(-1)?.textLength ?? 0;
  }

  #note(field: string | undefined, { reason, body }: Pick<ValidationFailure, 'reason' | 'body'>): void {
    this.#spent += body.length / 100;
    this.#failures.push({ field, reason, body, textLength: this.#reportedChars + (field?.length ?? 0) + body.length });
  }
}
