import type { ValidatingAdmissionPolicySpec, Validation } from '../../api/kinds/validating-admission-policy.js';
import type { Steps } from '../../api/steps.js';
import { policyCompiler } from '../../cel/environments/admission.js';
import type { Prepared } from '../../cel/prepare.js';
import type { Expression } from '../expression-list.js';

/** A policy whose expressions are compiled, each list in its order. */
export interface CompiledPolicy {
  readonly variables: ReadonlyMap<string, Prepared>;
  readonly conditions: readonly Expression[];
  readonly validations: readonly (Expression & { readonly of: Validation; readonly message: Expression | undefined })[];
  readonly annotations: readonly (Expression & { readonly key: string })[];
}

export function* compilePolicy(spec: ValidatingAdmissionPolicySpec): Steps<CompiledPolicy> {
  const given = { variables: spec.variables ?? [], conditions: spec.matchConditions ?? [] };
  const compiler = policyCompiler({ hasParams: Boolean(spec.paramKind), hasVariables: given.variables.length > 0 });
  const variables = new Map<string, Prepared>();
  for (const { name, expression } of given.variables) {
    yield;
    variables.set(name, yield* compiler.variable(name, expression));
  }
  const conditions = yield* each(given.conditions, function* ({ expression }) {
    return { text: expression, prepared: yield* compiler.condition(expression) };
  });
  const validations = yield* each(spec.validations ?? [], function* (of) {
    const { expression, messageExpression } = of;
    return {
      of,
      text: expression,
      prepared: yield* compiler.validation(expression),
      message: messageExpression
        ? { text: messageExpression, prepared: yield* compiler.message(messageExpression) }
        : undefined,
    };
  });
  const annotations = yield* each(spec.auditAnnotations ?? [], function* ({ key, valueExpression }) {
    return { key, text: valueExpression, prepared: yield* compiler.annotation(valueExpression) };
  });
  return { variables, conditions, validations, annotations };
}

function* each<T, R>(items: readonly T[], make: (item: T) => Steps<R>): Steps<readonly R[]> {
  const made: R[] = [];
  for (const item of items) {
    yield;
    made.push(yield* make(item));
  }
  return made;
}
