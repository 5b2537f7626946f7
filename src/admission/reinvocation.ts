import type { ApiObject } from '../api/object.js';
import type { ReinvocationContext } from './admission-step.js';

/** Determines which webhooks or policies of a step are called again in the second round. */
export class Reinvocation {
  /** Those that were called and whose object has not changed since. */
  #called = new Set<string>();
  readonly #due = new Set<string>();
  /** The object at the end of the first round. */
  left: ApiObject | undefined;

  /** Returns the state of a step, kept for the second round under its name. */
  static of({ memory }: ReinvocationContext, step: string): Reinvocation {
    const known = memory.get(step);
    if (known instanceof Reinvocation) return known;
    const created = new Reinvocation();
    memory.set(step, created);
    return created;
  }

  /** Records a call. `policy` is the reinvocationPolicy. */
  asked(id: string, policy: string | undefined): void {
    if (policy === 'IfNeeded') this.#called.add(id);
  }

  /** Records that the object has changed, so that those called before must be called again. */
  changed(): void {
    for (const id of this.#called) this.#due.add(id);
    this.#called = new Set();
  }

  isDue(id: string): boolean {
    return this.#due.has(id);
  }
}
