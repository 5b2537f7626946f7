import { overBudget } from '../cel/cost.js';
import type { Prepared } from '../cel/prepare.js';
import { Failure, type Value } from '../cel/values.js';
import type { Clock } from '../runtime/clock.js';
import type { TurnTaking } from '../runtime/turn-taking.js';
import type { AuthorizerDecisions, Variables } from './request-variables.js';

/** What match conditions may cost together; units of `src/cel/cost.ts`. */
export const matchConditionsCostBudget = 2_500_000;

/** An expression, and what became of it when it was compiled. */
export interface Expression {
  readonly text: string;
  readonly prepared: Prepared;
}

export type EvaluationResult = ({ readonly value: Value } | { readonly error: string }) & {
  /** How long it took; 0 where nothing is measured. */
  readonly seconds: number;
};

/** What expressions are evaluated with. */
export interface EvaluationContext {
  readonly variables: Variables;
  readonly decisions: AuthorizerDecisions;
  readonly turns: TurnTaking;
  /** What was evaluated for the variables since this was last asked. */
  readonly takeCost?: () => number;
  /** Absent: nothing is measured. */
  readonly clock?: Clock | undefined;
}

/** What some expressions come to that may cost so much together; no results: they cost more. None stays none. */
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
    const begun = clock?.monotonic() ?? 0;
    const { value, cost } = await decisions.during(() => prepared.program.evaluate(variables));
    left -= takeCost() + cost;
    if (left < 0) return { results: undefined, left: 0 };
    const seconds = ((clock?.monotonic() ?? 0) - begun) / 1_000;
    results.push(
      value instanceof Failure
        ? { error: `expression '${text}' resulted in error: ${value.message}`, seconds }
        : { value, seconds },
    );
  }
  return { results, left };
}

/** Whether conditions hold, or why that cannot be said. */
export type ConditionsVerdict = ({ readonly holds: boolean } | { readonly failures: readonly string[] }) & {
  /** How many could not be evaluated, up to the first that does not hold. */
  readonly errors: number;
};

/** What conditions come to. One that is false settles it. */
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
