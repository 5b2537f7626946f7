import { aggregate, trimSpace } from '../../api/go-text.js';
import { overBudget } from '../../cel/cost.js';
import type { Value } from '../../cel/values.js';
import type { CompiledValidations } from './compiled.js';
import { type ExpressionParts, evaluateConditions, evaluateList, expressionListCostBudget } from './expressions.js';

/** The maximum size of a message that an expression returns, in bytes. */
const maxMessage = 5 * 1024;

/** The result of one validation. Without `denial`, the validation is met or its failure is ignored. */
export interface Decision {
  readonly denial?: { readonly message: string; readonly reason?: string };
  readonly ignored?: string;
  /** The duration of the evaluation. */
  readonly seconds: number;
}

/** The result of a policy for a request with one set of parameters. */
export interface Verdict {
  /** The results in the order of the validations. */
  readonly decisions: readonly Decision[];
  readonly annotations: readonly Annotation[];
}

/** An audit annotation, or why it could not be evaluated. */
export type Annotation =
  | { readonly key: string; readonly value: string }
  | { readonly key: string; readonly error: string };

/** The inputs for evaluating the expressions of a policy. */
export interface EvaluationParts extends ExpressionParts {
  /** Whether failures to evaluate are ignored (`failurePolicy: Ignore`). */
  readonly ignoresFailures: boolean;
}

const nothing: Verdict = { decisions: [], annotations: [] };

/** Evaluates a policy as kube-apiserver does (KEP-3488). */
export async function evaluatePolicy(policy: CompiledValidations, parts: EvaluationParts): Promise<Verdict> {
  const { ignoresFailures } = parts;
  const failed = (message: string, seconds = 0): Decision =>
    ignoresFailures ? { ignored: message, seconds } : { denial: { message }, seconds };

  const verdict = await evaluateConditions(policy, parts);
  if ('failures' in verdict) {
    return ignoresFailures ? nothing : { ...nothing, decisions: [failed(aggregate(verdict.failures))] };
  }
  if (!verdict.holds) return nothing;

  const validations = await evaluateList(policy, policy.validations, expressionListCostBudget, parts, {
    hasAuthorizer: true,
    hasNamespace: true,
  });
  if (validations.results === undefined) return { ...nothing, decisions: [failed(overBudget)] };
  const messages = await evaluateList(
    policy,
    policy.validations.map(({ message }) => message),
    validations.left,
    parts,
    { hasAuthorizer: false, hasNamespace: true },
  );
  const decisions = validations.results.map((result, at): Decision => {
    if (result === undefined) return { seconds: 0 };
    const { seconds } = result;
    if ('error' in result) return failed(result.error, seconds);
    if (messages.results === undefined) return failed(`failed messageExpression: ${overBudget}`, seconds);
    if (result.value === true) return { seconds };
    const { of } = policy.validations[at] as CompiledValidations['validations'][number];
    const evaluated = messages.results[at];
    const message =
      (evaluated !== undefined && 'value' in evaluated ? usableMessage(evaluated.value) : '') ||
      trimSpace(of.message ?? '') ||
      `failed expression: ${trimSpace(of.expression)}`;
    return { denial: { message, ...(of.reason ? { reason: of.reason } : {}) }, seconds };
  });

  const annotations = await evaluateList(policy, policy.annotations, expressionListCostBudget, parts, {
    hasAuthorizer: false,
    hasNamespace: true,
  });
  if (annotations.results === undefined) return { ...nothing, decisions: [failed(overBudget)] };
  return {
    decisions,
    annotations: annotations.results.flatMap((result, at): readonly Annotation[] => {
      const { key } = policy.annotations[at] as CompiledValidations['annotations'][number];
      if (result === undefined) return [];
      if ('error' in result) return ignoresFailures ? [] : [{ key, error: result.error }];
      const value = typeof result.value === 'string' ? trimSpace(result.value) : '';
      return value === '' ? [] : [{ key, value }];
    }),
  };
}

/** Returns the value if it is a text of a single line and an acceptable length; otherwise the empty string. */
function usableMessage(value: Value | undefined): string {
  const text = typeof value === 'string' ? trimSpace(value) : '';
  return Buffer.byteLength(text) > maxMessage || text.includes('\n') ? '' : text;
}
