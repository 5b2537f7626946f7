import { aggregate, trimSpace } from '../../api/go-text.js';
import type { Prepared } from '../../cel/prepare.js';
import { Failure, type StructValue, type Value } from '../../cel/values.js';
import type { TurnTaking } from '../../runtime/turn-taking.js';
import { type Expression, evaluateEach, overBudget, perConditions, verdictOn } from '../expression-list.js';
import type { Decisions, Variables } from '../request-variables.js';
import type { CompiledPolicy } from './compiled.js';

/** What each list of a policy's expressions but the conditions may cost; units of `src/cel/cost.ts`. */
const perList = 10_000_000;
/** Most bytes of a message that an expression makes. */
const maxMessage = 5 * 1024;

/** What one validation comes to; no `denial`: it holds. */
export interface Decision {
  readonly denial?: { readonly message: string; readonly reason?: string };
}

/** What a policy says of a request with one set of parameters. */
export interface Verdict {
  /** In the order of the validations. */
  readonly decisions: readonly Decision[];
  readonly annotations: readonly Annotation[];
}

/** What is to be recorded of a request under a key, or why that cannot be said. */
export type Annotation =
  | { readonly key: string; readonly value: string }
  | { readonly key: string; readonly error: string };

/** What the expressions of a policy are evaluated with. */
export interface EvaluationParts {
  /** Without `variables`. `hasAuthorizer`: whoever asks may ask for decisions. */
  variables(options: { readonly hasAuthorizer: boolean; readonly hasNamespace: boolean }): Variables;
  readonly decisions: Decisions;
  readonly turns: TurnTaking;
  /** What cannot be evaluated does not count. */
  readonly ignoresFailures: boolean;
}

const nothing: Verdict = { decisions: [], annotations: [] };

/** Evaluates a policy as kube-apiserver does (KEP-3488). */
export async function evaluatePolicy(policy: CompiledPolicy, parts: EvaluationParts): Promise<Verdict> {
  const { ignoresFailures } = parts;
  const failed = (message: string): Decision => (ignoresFailures ? {} : { denial: { message } });

  const conditions = await pass(policy, policy.conditions, perConditions, parts, {
    hasAuthorizer: true,
    hasNamespace: false,
  });
  const verdict = verdictOn(conditions.results);
  if ('failures' in verdict) {
    return ignoresFailures ? nothing : { ...nothing, decisions: [failed(aggregate(verdict.failures))] };
  }
  if (!verdict.holds) return nothing;

  const validations = await pass(policy, policy.validations, perList, parts, {
    hasAuthorizer: true,
    hasNamespace: true,
  });
  if (validations.results === undefined) return { ...nothing, decisions: [failed(overBudget)] };
  const messages = await pass(
    policy,
    policy.validations.map(({ message }) => message),
    validations.left,
    parts,
    { hasAuthorizer: false, hasNamespace: true },
  );
  const decisions = validations.results.map((result, at): Decision => {
    if (result === undefined) return {};
    if ('error' in result) return failed(result.error);
    if (messages.results === undefined) return failed(`failed messageExpression: ${overBudget}`);
    if (result.value === true) return {};
    const { of } = policy.validations[at] as CompiledPolicy['validations'][number];
    const said = messages.results[at];
    const message =
      (said !== undefined && 'value' in said ? usableMessage(said.value) : '') ||
      trimSpace(of.message ?? '') ||
      `failed expression: ${trimSpace(of.expression)}`;
    return { denial: { message, ...(of.reason ? { reason: of.reason } : {}) } };
  });

  const annotations = await pass(policy, policy.annotations, perList, parts, {
    hasAuthorizer: false,
    hasNamespace: true,
  });
  if (annotations.results === undefined) return { ...nothing, decisions: [failed(overBudget)] };
  return {
    decisions,
    annotations: annotations.results.flatMap((result, at): readonly Annotation[] => {
      const { key } = policy.annotations[at] as CompiledPolicy['annotations'][number];
      if (result === undefined) return [];
      if ('error' in result) return ignoresFailures ? [] : [{ key, error: result.error }];
      const value = typeof result.value === 'string' ? trimSpace(result.value) : '';
      return value === '' ? [] : [{ key, value }];
    }),
  };
}

/** A text of one line that is not too long; otherwise none. */
function usableMessage(value: Value | undefined): string {
  const text = typeof value === 'string' ? trimSpace(value) : '';
  return Buffer.byteLength(text) > maxMessage || text.includes('\n') ? '' : text;
}

/** What some expressions of a policy come to, variables being evaluated once for all of them. */
function pass(
  { variables: composed }: CompiledPolicy,
  expressions: readonly (Expression | undefined)[],
  budget: number,
  { variables, decisions, turns }: EvaluationParts,
  options: { readonly hasAuthorizer: boolean; readonly hasNamespace: boolean },
): ReturnType<typeof evaluateEach> {
  const given = variables(options);
  const own = new PolicyVariables(composed, (name) => (name === 'variables' ? own : given(name)));
  return evaluateEach(expressions, budget, {
    variables: own.resolve,
    decisions,
    turns,
    takeCost: () => own.takeCost(),
  });
}

/** What `variables` is in an expression: each variable is evaluated when it is first asked for. */
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
    // Of two variables of one name both are the later one, so that what it refers to may be itself.
    this.#known.set(field, new Failure(`variable ${JSON.stringify(field)} refers to itself`));
    const value = this.#evaluate(field, prepared);
    this.#known.set(field, value);
    return value;
  }

  fields(): Iterable<string> {
    return this.#composed.keys();
  }

  /** What variables have cost since this was last asked. */
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
