/** cel-go's message for an evaluation that exceeded its cost limit. */
export const tooCostly = 'operation cancelled: actual cost limit exceeded';

/**
 * Costs say little about the work behind some operations: comparing two lists of long texts costs a tenth for each item.
 * Nothing can interrupt an evaluation here, so that work is counted too, and ends it where it would take seconds. A step
 * is about 50 ns. There is one count, because there is one thread and evaluations do not wait.
 */
export class EffortExceeded extends Error {
  constructor() {
    super(tooCostly);
    this.name = 'EffortExceeded';
  }
}

let left = Number.POSITIVE_INFINITY;

/** Counts work that costs do not show. Throws `EffortExceeded` when there was too much within an evaluation. */
export function spend(steps: number): void {
  left -= steps;
  if (left < 0) throw new EffortExceeded();
}

/** Runs something with a limit of its own, which nested calls do not share. */
export function withEffort<T>(steps: number, run: () => T): T {
  const before = left;
  left = steps;
  try {
    return run();
  } finally {
    left = before;
  }
}

/** Looking through a text once. */
export const stepsOf = (text: string): number => text.length >> 9;

/** Making or searching a text of so many units of UTF-16. */
export const spendOnText = (units: number): void => spend(units >> 5);
