import type { Steps } from '../../src/apply/apply-configuration.js';

/** Goes through all steps without a pause. */
export function atOnce<R>(steps: Steps<R>): R {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
