import type { ApiObject } from '../api/object.js';
import type { ReinvocationContext } from './admission-step.js';

/** Who of those that one step asks, one after the other, is asked again in the second round. */
export class Reinvocation {
  /** Asked, and nothing has changed since. */
  #asked = new Set<string>();
  readonly #due = new Set<string>();
  /** The object as they left it. */
  left: ApiObject | undefined;

  /** What is remembered of the first round under the name of the step. */
  static of({ memory }: ReinvocationContext, step: string): Reinvocation {
    const known = memory.get(step);
    if (known instanceof Reinvocation) return known;
    const made = new Reinvocation();
    memory.set(step, made);
    return made;
  }

  /** `policy`: whether somebody wants to be asked again. */
  asked(id: string, policy: string | undefined): void {
    if (policy === 'IfNeeded') this.#asked.add(id);
  }

  /** The object has changed: what was asked before is to be asked again. */
  changed(): void {
    for (const id of this.#asked) this.#due.add(id);
    this.#asked = new Set();
  }

  isDue(id: string): boolean {
    return this.#due.has(id);
  }
}
