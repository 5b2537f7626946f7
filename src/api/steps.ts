/** Work on an object that may be large, in steps between which others can have their turn. */
export type Steps<R> = Generator<void, R, void>;

/** So many items of lists and members of objects are a step of their own. */
export const itemsInStep = 2_048;

/** Counts what a pass over a large value has dealt with. */
export class StepCount {
  #passed = 0;

  /** Counts one more item or member. Is it the last of a step? */
  endsStep(): boolean {
    return ++this.#passed % itemsInStep === 0;
  }
}

/** Goes through all steps without a pause. */
export function atOnce<R>(steps: Steps<R>): R {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
