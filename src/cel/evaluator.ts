import type { Steps } from '../api/steps.js';
import type { Checked } from './checker.js';
import { EffortExceeded, withEffort } from './effort.js';
import { Aborted, CostExceeded, Frame, ProgramFailed, type Step } from './evaluation/frame.js';
import { type Names, Planner, stepOf } from './evaluation/planner.js';
import { Failure, type Value } from './values.js';

export { CostExceeded, ProgramFailed };

/** An expression ready to be evaluated, as often as one likes, also within itself. */
export interface Program {
  /**
   * Evaluates with the variables asked for by their full names (undefined: there is none) and counts what it costs as
   * cel-go's interpreter does. The value may be a `Failure`. Throws `CostExceeded` as soon as the cost is above the limit.
   */
  evaluate(
    variables: (name: string) => Value | undefined,
    budget: { readonly limit: number },
  ): { readonly value: Value; readonly cost: number };
}

/** Makes a program of a checked expression. Throws `ProgramFailed`. */
export function* program(checked: Checked, environment: Names): Steps<Program> {
  const planner = new Planner(checked, environment);
  const step = yield* planned(planner, checked);
  return {
    evaluate(variables, { limit }) {
      const frame = new Frame(variables, limit, planner.locals);
      return { value: attempt(step, frame), cost: frame.cost };
    },
  };
}

function* planned(planner: Planner, { expr }: Checked): Steps<Step> {
  try {
    return stepOf(yield* planner.plan(expr, undefined));
  } catch (error) {
    // A constant part came to grief.
    throw error instanceof Aborted ? new ProgramFailed(error.message) : error;
  }
}

function attempt(step: Step, frame: Frame): Value {
  try {
    return withEffort(mostSteps, () => step(frame));
  } catch (error) {
    if (error instanceof Aborted) return new Failure(error.message);
    throw error instanceof EffortExceeded ? new CostExceeded(frame.cost) : error;
  }
}

/**
 * About 100 ms, in which nobody else has a turn. What Kubernetes lets an evaluation cost mostly takes less; comparing long
 * lists or texts over and over ends earlier here than there.
 */
const mostSteps = 2_000_000;
