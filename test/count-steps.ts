import type { Steps } from '../src/api/steps.js';

/** Runs all steps of some work and counts its pauses. */
export function countSteps<R>(steps: Steps<R>): { readonly pauses: number; readonly result: R } {
  for (let pauses = 0; ; pauses++) {
    const { done, value } = steps.next();
    if (done) return { pauses, result: value };
  }
}
