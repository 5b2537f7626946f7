/** Work on an object that may be large, in steps between which others can have their turn. */
export type Steps<R> = Generator<void, R, void>;

/** Goes through all steps without a pause. */
export function atOnce<R>(steps: Steps<R>): R {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
