import type { Steps } from '../api/steps.js';
import type { Checked } from './checker.js';
import { perCallLimit } from './cost.js';
import { EffortExceeded, withEffort } from './effort.js';
import { CostExceeded, EvaluationAborted, Frame, ProgramFailed, type Step } from './evaluation/frame.js';
import { type Names, Planner, stepOf } from './evaluation/planner.js';
import { Failure, type Value } from './values.js';

export { ProgramFailed };

/** A compiled expression; can be evaluated any number of times, and reentrantly. */
export interface Program {
  /**
   * Evaluates with the variables asked for by their full names (undefined: there is none) and counts what it costs as
   * cel-go's interpreter does. The value may be a `Failure`. Ends as soon as the cost is above the limit, which is
   * `perCallLimit` where none is given.
   */
  evaluate(variables: (name: string) => Value | undefined, budget?: { readonly limit: number }): Outcome;
}

/** The result of an evaluation. */
export interface Outcome {
  readonly value: Value;
  /** Units of `cost.ts`. */
  readonly cost: number;
  /** There where it cost more than it may; the value is a `Failure` then, and the cost what was counted until then. */
  readonly isOverLimit?: true;
}

/** Makes a program of a checked expression. Throws `ProgramFailed`. */
export function* program(checked: Checked, environment: Names): Steps<Program> {
  const planner = new Planner(checked, environment);
  const step = yield* planned(planner, checked);
  return {
    evaluate(variables, { limit } = { limit: perCallLimit }) {
      const frame = new Frame(variables, limit, planner.locals);
      return attempt(step, frame);
    },
  };
}

function* planned(planner: Planner, { expr }: Checked): Steps<Step> {
  try {
    return stepOf(yield* planner.plan(expr, undefined));
  } catch (error) {
    // A constant part came to grief.
    throw error instanceof EvaluationAborted ? new ProgramFailed(error.message) : error;
  }
}

function attempt(step: Step, frame: Frame): Outcome {
  try {
    const value = withEffort(mostSteps, () => step(frame));
    return { value, cost: frame.cost };
  } catch (error) {
    if (error instanceof EvaluationAborted) return { value: new Failure(error.message), cost: frame.cost };
    if (!(error instanceof CostExceeded) && !(error instanceof EffortExceeded)) throw error;
    return { value: new Failure(error.message), cost: frame.cost, isOverLimit: true };
  }
}

/**
 * About 100 ms, in which nobody else has a turn. What Kubernetes lets an evaluation cost mostly takes less; comparing long
 * lists or texts over and over ends earlier here than there.
 */
const mostSteps = 2_000_000;
