import { type CauseReason, invalid, maxViolationChars, maxViolations, type Violation } from '../api/violations.js';
import { Ratchet } from './ratchet.js';

/** A failure before it is known what stands before its field. */
export interface ValidationFailure {
  /** Relative path; absent for failures that carry no field. */
  readonly field: string | undefined;
  readonly reason: CauseReason;
  readonly body: string;
  /** Length of this failure and of those before it. */
  readonly textLength: number;
}

/** Of so many ordinary checks a validation makes a step. */
const checksInStep = 500;

/** Where a validation is, what has failed so far, and how much it has done since its last step. */
export class ValidationState {
  readonly path: (string | number)[] = [];
  readonly ratchet = new Ratchet();
  #failures: ValidationFailure[] = [];
  #spent = 0;

  /** The path as texts name it. */
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

  /** Notes a failure of the value at this place, unless there are enough; `make` gets the place's path. */
  fail(make: (path: string) => Violation): void {
    if (this.#isFull) return;
    const { text } = this;
    this.#note(text, make(text));
  }

  /** Notes a failure that carries no field, only a text. */
  failWithoutField(detail: (path: string) => string): void {
    if (!this.#isFull) this.#note(undefined, invalid('', '', detail(this.text)));
  }

  /** Notes failures that were found apart. */
  addAll(failures: readonly ValidationFailure[]): void {
    for (const failure of failures) this.#note(failure.field, failure);
  }

  /** Forgets all failures but the first so many. */
  truncate(count: number): void {
    this.#failures.length = count;
  }

  /** From here on failures are noted apart; what it answers ends that and answers them. */
  collectApart(): () => readonly ValidationFailure[] {
    const outer = this.#failures;
    this.#failures = [];
    return () => {
      const apart = this.#failures;
      this.#failures = outer;
      return apart;
    };
  }

  /** Something cost as much as so many ordinary checks. */
  spend(checks: number): void {
    this.#spent += checks;
  }

  /** Counts one check more: is it time for a step? */
  isStep(): boolean {
    if (++this.#spent < checksInStep) return false;
    this.#spent = 0;
    return true;
  }

  get #isFull(): boolean {
    return this.#failures.length >= maxViolations || this.#told > maxViolationChars;
  }

  get #told(): number {
    return this.#failures.at(-1)?.textLength ?? 0;
  }

  #note(field: string | undefined, { reason, body }: Pick<ValidationFailure, 'reason' | 'body'>): void {
    this.#spent += body.length / 100;
    this.#failures.push({ field, reason, body, textLength: this.#told + (field?.length ?? 0) + body.length });
  }
}
