import type { Prepared } from '../../cel/prepare.js';
import { Failure, type StructValue, type Value } from '../../cel/values.js';
import type { Clock } from '../../runtime/clock.js';
import type { TurnTaking } from '../../runtime/turn-taking.js';
import {
  type ConditionsVerdict,
  conditionsVerdict,
  type Expression,
  evaluateExpressions,
  matchConditionsCostBudget,
} from '../expression-list.js';
import type { AuthorizerDecisions, Variables } from '../request-variables.js';
import type { CompiledPolicy } from './compiled.js';

/**
 * The cost budget of each list of expressions in a policy, except its match conditions, in units of `src/cel/cost.ts`.
 */
export const expressionListCostBudget = 10_000_000;

/** The inputs for evaluating the expressions of a policy. */
export interface ExpressionParts {
  /** Returns all variables except `variables`. `hasAuthorizer`: the expression may use authorization checks. */
  variables(options: { readonly hasAuthorizer: boolean; readonly hasNamespace: boolean }): Variables;
  readonly decisions: AuthorizerDecisions;
  readonly turns: TurnTaking;
  /** The clock that durations are measured with; if absent, they are not measured. */
  readonly clock?: Clock;
  /** Called with the result of the match conditions. */
  readonly onConditions?:
    | ((judgement: { readonly seconds: number; readonly verdict: ConditionsVerdict }) => void)
    | undefined;
}

/** Evaluates the match conditions of a policy. */
export async function evaluateConditions(policy: CompiledPolicy, parts: ExpressionParts): Promise<ConditionsVerdict> {
  const { clock, onConditions } = parts;
  const start = clock?.monotonic() ?? 0;
  const { results } = await evaluateList(policy, policy.conditions, matchConditionsCostBudget, parts, {
    hasAuthorizer: true,
    hasNamespace: false,
  });
  const verdict = conditionsVerdict(results);
  onConditions?.({ verdict, seconds: ((clock?.monotonic() ?? 0) - start) / 1_000 });
  return verdict;
}

/** Evaluates a list of expressions of a policy. Each variable is evaluated at most once for all of them. */
export function evaluateList(
  { variables: composed }: CompiledPolicy,
  expressions: readonly (Expression | undefined)[],
  budget: number,
  { variables, decisions, turns, clock }: ExpressionParts,
  options: { readonly hasAuthorizer: boolean; readonly hasNamespace: boolean },
): ReturnType<typeof evaluateExpressions> {
  const requestVariables = variables(options);
  const own = new PolicyVariables(composed, (name) => (name === 'variables' ? own : requestVariables(name)));
  return evaluateExpressions(expressions, budget, {
    variables: own.resolve,
    decisions,
    turns,
    clock,
    takeCost: () => own.takeCost(),
  });
}

/** The value of `variables` in an expression. Each variable is evaluated when it is first used. */
class PolicyVariables implements StructValue {
  readonly kind = 'struct';
  readonly name = 'kubernetes.variables';
  readonly resolve: Variables;
  readonly #composed: ReadonlyMap<string, Prepared>;
  readonly #known = new Map<string, Value>();
  #cost = 0;

  constructor(composed: ReadonlyMap<string, Prepared>, resolve: Variables) {
    this.#composed = composed;
    this.resolve = resolve;
  }

  get(field: string): Value | undefined {
    const known = this.#known.get(field);
    if (known !== undefined) return known;
    const prepared = this.#composed.get(field);
    if (prepared === undefined) return undefined;
    // If two variables have the same name, both have the later definition, which may then refer to itself.
    this.#known.set(field, new Failure(`variable ${JSON.stringify(field)} refers to itself`));
    try {
      const value = this.#evaluate(field, prepared);
      this.#known.set(field, value);
      return value;
    } catch (error) {
      // A decision of the authorizer is needed first; the variable is then evaluated again.
      this.#known.delete(field);
      throw error;
    }
  }

  fields(): Iterable<string> {
    return this.#composed.keys();
  }

  /** Returns the cost of the variables that were evaluated since the last call. */
  takeCost(): number {
    const cost = this.#cost;
    this.#cost = 0;
    return cost;
  }

  #evaluate(field: string, prepared: Prepared): Value {
    if (prepared.wrong !== undefined) {
      return new Failure(`composited variable ${JSON.stringify(field)} fails to compile: ${prepared.wrong}`);
    }
    const { value, cost } = prepared.program.evaluate(this.resolve);
    this.#cost += cost;
    return value instanceof Failure
      ? new Failure(`composited variable ${JSON.stringify(field)} fails to evaluate: ${value.message}`)
      : value;
  }
}
