import type { Steps } from '../api/steps.js';
import type { Checked } from './checker.js';
import { perCallLimit } from './cost.js';
import { EffortExceeded, withEffort } from './effort.js';
import { CostExceeded, EvaluationAborted, Frame, ProgramFailed, type Step } from './evaluation/frame.js';
import { type Names, Planner, stepOf } from './evaluation/planner.js';
import { Failure, type Value } from './values.js';

export { ProgramFailed };

/** A compiled expression. It can be evaluated any number of times, and reentrantly. */
export interface Program {
  /**
   * Evaluates the expression. `variables` returns a variable by its full name (undefined if there is none). Costs are
   * counted as in cel-go's interpreter. The value may be a `Failure`. Ends as soon as the cost exceeds the limit, by
   * default `perCallLimit`.
   */
  evaluate(variables: (name: string) => Value | undefined, budget?: { readonly limit: number }): Outcome;
}

/** The result of an evaluation. */
export interface Outcome {
  readonly value: Value;
  /** The cost in the units of `cost.ts`. */
  readonly cost: number;
  /**
   * True if the evaluation exceeded its limit; the value is then a `Failure`, and the cost is what was counted until
   * then.
   */
  readonly isOverLimit?: true;
}

/** Plans a checked expression as a program. Throws `ProgramFailed`. */
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
    // A constant part failed.
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
 * The effort limit of an evaluation: about 100 ms during which nothing else runs. Most evaluations within Kubernetes'
 * cost limit take less; those that repeatedly compare long lists or texts end earlier here than there.
 */
const mostSteps = 2_000_000;
