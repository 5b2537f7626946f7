import type { AdmissionPolicySpec } from '../../api/kinds/admission-policy.js';
import type { MutatingAdmissionPolicySpec } from '../../api/kinds/mutating-admission-policy.js';
import type { ValidatingAdmissionPolicySpec, Validation } from '../../api/kinds/validating-admission-policy.js';
import type { Steps } from '../../api/steps.js';
import { type PolicyCompiler, policyCompiler } from '../../cel/environments/admission.js';
import type { Prepared } from '../../cel/prepare.js';
import { runInTurns, type TurnTaking } from '../../runtime/turn-taking.js';
import type { Expression } from '../expression-list.js';

/** The compiled expressions that every kind of policy has, each list in its order. */
export interface CompiledPolicy {
  readonly variables: ReadonlyMap<string, Prepared>;
  readonly conditions: readonly Expression[];
}

export interface CompiledValidations extends CompiledPolicy {
  readonly validations: readonly (Expression & { readonly of: Validation; readonly message: Expression | undefined })[];
  readonly annotations: readonly (Expression & { readonly key: string })[];
}

export interface CompiledMutations extends CompiledPolicy {
  readonly mutations: readonly CompiledMutation[];
}

export interface CompiledMutation extends Expression {
  readonly patchType: 'ApplyConfiguration' | 'JSONPatch';
}

export function* compileValidations(spec: ValidatingAdmissionPolicySpec): Steps<CompiledValidations> {
  const { compiler, ...common } = yield* compileCommon(spec, Boolean(spec.variables?.length));
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
  return { ...common, validations, annotations };
}

export function* compileMutations(spec: MutatingAdmissionPolicySpec): Steps<CompiledMutations> {
  const { compiler, ...common } = yield* compileCommon(spec, true);
  const mutations = yield* each(spec.mutations ?? [], function* (mutation): Steps<CompiledMutation> {
    if (mutation.patchType === 'JSONPatch') {
      const text = mutation.jsonPatch?.expression ?? '';
      return { patchType: 'JSONPatch', text, prepared: yield* compiler.operations(text) };
    }
    const text = mutation.applyConfiguration?.expression ?? '';
    return { patchType: 'ApplyConfiguration', text, prepared: yield* compiler.configuration(text) };
  });
  return { ...common, mutations };
}

/** Returns a function that compiles policies, each only once. */
export function compiledOnce<P extends { readonly spec?: object }, C>(
  compile: (spec: NonNullable<P['spec']>) => Steps<C>,
): (policy: P, turns: TurnTaking) => Promise<C> {
  const known = new WeakMap<P, C>();
  return async (policy, turns) => {
    const compiled = known.get(policy) ?? (await runInTurns(compile(policy.spec ?? {}), turns));
    known.set(policy, compiled);
    return compiled;
  };
}

function* compileCommon(
  { paramKind, variables: declared = [], matchConditions = [] }: AdmissionPolicySpec,
  hasVariables: boolean,
): Steps<CompiledPolicy & { readonly compiler: PolicyCompiler }> {
  const compiler = policyCompiler({ hasParams: Boolean(paramKind), hasVariables });
  const variables = new Map<string, Prepared>();
  for (const { name, expression } of declared) {
    yield;
    variables.set(name, yield* compiler.variable(name, expression));
  }
  const conditions = yield* each(matchConditions, function* ({ expression }) {
    return { text: expression, prepared: yield* compiler.condition(expression) };
  });
  return { variables, conditions, compiler };
}

function* each<T, R>(items: readonly T[], make: (item: T) => Steps<R>): Steps<readonly R[]> {
  const results: R[] = [];
  for (const item of items) {
    yield;
    results.push(yield* make(item));
  }
  return results;
}
