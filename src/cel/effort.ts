/** cel-go's message for an evaluation that exceeded its cost limit. */
export const tooCostly = 'operation cancelled: actual cost limit exceeded';

/**
 * Thrown when an evaluation exceeds its effort limit. Costs say little about the work of some operations: comparing two
 * lists of long texts costs a tenth for each item. Evaluations cannot be interrupted, so this work is counted as well
 * and ends the evaluation before it takes seconds. A step takes about 50 ns. One global counter is enough, because
 * there is one thread and evaluations do not await.
 */
export class EffortExceeded extends Error {
  constructor() {
    super(tooCostly);
    this.name = 'EffortExceeded';
  }
}

let remaining = Number.POSITIVE_INFINITY;

/** Counts work that costs do not cover. Throws `EffortExceeded` if an evaluation exceeds its limit. */
export function spend(steps: number): void {
  remaining -= steps;
  if (remaining < 0) throw new EffortExceeded();
}

/** Runs a function with an effort limit of its own, which nested calls do not share. */
export function withEffort<T>(steps: number, run: () => T): T {
  const before = remaining;
  remaining = steps;
  try {
    return run();
  } finally {
    remaining = before;
  }
}

/** Returns the steps of traversing a text once. */
export const stepsOf = (text: string): number => text.length >> 9;

/** Counts making or searching a text of this many UTF-16 units. */
export const spendOnText = (units: number): void => spend(units >> 5);
