import { overBudget } from '../cel/cost.js';
import type { Prepared } from '../cel/prepare.js';
import { Failure, type Value } from '../cel/values.js';
import type { Clock } from '../runtime/clock.js';
import type { TurnTaking } from '../runtime/turn-taking.js';
import type { AuthorizerDecisions, Variables } from './request-variables.js';

/** The cost budget of all match conditions together, in units of `src/cel/cost.ts`. */
export const matchConditionsCostBudget = 2_500_000;

/** An expression and the result of compiling it. */
export interface Expression {
  readonly text: string;
  readonly prepared: Prepared;
}

export type EvaluationResult = ({ readonly value: Value } | { readonly error: string }) & {
  /** The duration of the evaluation; 0 without a clock. */
  readonly seconds: number;
};

/** The parameters for the evaluation of a list of expressions. */
export interface EvaluationContext {
  readonly variables: Variables;
  readonly decisions: AuthorizerDecisions;
  readonly turns: TurnTaking;
  /** Returns the cost of the variables that were evaluated since the last call. */
  readonly takeCost?: () => number;
  /** The clock that durations are measured with; if absent, they are not measured. */
  readonly clock?: Clock | undefined;
}

/**
 * Evaluates expressions within a common cost budget; returns undefined if they exceed it. Expressions that are
 * undefined have no result.
 */
export async function evaluateExpressions(
  expressions: readonly (Expression | undefined)[],
  budget: number,
  { variables, decisions, turns, takeCost = () => 0, clock }: EvaluationContext,
): Promise<{ readonly results: readonly (EvaluationResult | undefined)[] | undefined; readonly left: number }> {
  const results: (EvaluationResult | undefined)[] = [];
  let left = budget;
  for (const expression of expressions) {
    if (expression === undefined) {
      results.push(undefined);
      continue;
    }
    const { text, prepared } = expression;
    if (prepared.wrong !== undefined) {
      results.push({ error: `compilation error: ${prepared.wrong}`, seconds: 0 });
      continue;
    }
    if (turns.isDue) await turns.next();
    const start = clock?.monotonic() ?? 0;
    const { value, cost } = await decisions.during(() => prepared.program.evaluate(variables));
    left -= takeCost() + cost;
    if (left < 0) return { results: undefined, left: 0 };
    const seconds = ((clock?.monotonic() ?? 0) - start) / 1_000;
    results.push(
      value instanceof Failure
        ? { error: `expression '${text}' resulted in error: ${value.message}`, seconds }
        : { value, seconds },
    );
  }
  return { results, left };
}

/** Whether all conditions are met, or why that could not be determined. */
export type ConditionsVerdict = ({ readonly holds: boolean } | { readonly failures: readonly string[] }) & {
  /** The number of conditions that failed to evaluate before the first one that is false. */
  readonly errors: number;
};

/** Combines the results of conditions. One condition that is false decides, whatever else failed. */
export function conditionsVerdict(results: readonly (EvaluationResult | undefined)[] | undefined): ConditionsVerdict {
  if (results === undefined) return { failures: [overBudget], errors: 0 };
  const failures: string[] = [];
  for (const result of results) {
    if (result === undefined) continue;
    if ('error' in result) failures.push(result.error);
    else if (result.value === false) return { holds: false, errors: failures.length };
  }
  const errors = failures.length;
  return errors > 0 ? { failures, errors } : { holds: true, errors };
}
