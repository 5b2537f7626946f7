import { trimSpace } from '../../api/go-text.js';
import { once } from '../../api/once.js';
import type { Steps } from '../../api/steps.js';
import type { Range } from '../../cel/cost.js';
import { type DeclType, sizesWithin, typeOf } from '../../cel/decl-type.js';
import { type Environment, environmentOf } from '../../cel/environment.js';
import { estimate } from '../../cel/estimate.js';
import type { SizeOf } from '../../cel/estimate-sizes.js';
import type { Program } from '../../cel/evaluator.js';
import { kubernetesLibraries } from '../../cel/kubernetes.js';
import { type PrepareOptions, prepare } from '../../cel/prepare.js';
import { optionalOf, type Type } from '../../cel/types.js';
import { followPath } from '../field-path.js';
import type { Schema, ValidationRule } from '../schema.js';

/** A compiled expression, or its compile error. `cost` is the estimated maximum cost of one evaluation. */
type CompiledExpression =
  | { readonly program: Program; readonly cost: () => Steps<Range>; readonly wrong?: undefined }
  | { readonly wrong: string };

/** A compiled rule of a schema node. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  /** The rule's expression; undefined if it is empty. */
  readonly expression: CompiledExpression | undefined;
  /** The messageExpression; undefined if there is none, or if the rule itself does not compile. */
  readonly message: CompiledExpression | undefined;
  readonly usesOldSelf: boolean;
  /** The `fieldPath`, as errors print it. */
  readonly fieldPath: string | undefined;
}

export interface NodeRule {
  /** Compiles the rule on the first call; later calls return the same result. */
  compiled(): Steps<CompiledRule>;
}

/**
 * Returns the rules of a node (KEP-2876) in their order, each of which is compiled when first needed. `declared` is the
 * type of the node's values; error texts are kube-apiserver's.
 */
export function nodeRules(schema: Schema, declared: DeclType): readonly NodeRule[] {
  const self = typeOf(declared, 'selfType');
  const environment = (oldSelf: Type): Environment =>
    environmentOf({
      variables: new Map([
        ['self', self],
        ['oldSelf', oldSelf],
      ]),
      libraries: kubernetesLibraries,
    });
  const plain = once(() => environment(self));
  const optional = once(() => environment(optionalOf(self)));
  const sizeOf = sizesWithin(declared);
  return (schema.validations ?? []).map((validation) => {
    let cached: CompiledRule | undefined;
    return {
      *compiled() {
        cached ??= yield* compileRule(validation, schema, validation.optionalOldSelf ? optional() : plain(), sizeOf);
        return cached;
      },
    };
  });
}

function* compileRule(
  validation: ValidationRule,
  schema: Schema,
  environment: Environment,
  sizeOf: SizeOf,
): Steps<CompiledRule> {
  const { rule, messageExpression, fieldPath } = validation;
  const compiled = trimSpace(rule) === '' ? undefined : yield* compile(rule, environment, ruleOptions, sizeOf);
  const isRight = compiled !== undefined && compiled.expression.wrong === undefined;
  const message =
    isRight && messageExpression
      ? (yield* compile(messageExpression, environment, messageOptions, sizeOf)).expression
      : undefined;
  // If the message does not compile, the path is not used either.
  const path = fieldPath && message?.wrong === undefined ? followPath(fieldPath, schema, { brackets: true }) : '';
  return {
    rule: validation,
    expression: compiled?.expression,
    message,
    usesOldSelf: compiled?.usesOldSelf ?? false,
    fieldPath: typeof path === 'string' ? undefined : path.text,
  };
}

const ruleOptions: PrepareOptions = {
  wrongType: ({ kind }) => (kind === 'bool' ? undefined : 'cel expression must evaluate to a bool'),
};
const messageOptions: PrepareOptions = {
  compilation: 'messageExpression compilation failed: ',
  wrongType: ({ kind }) => (kind === 'string' ? undefined : 'messageExpression must evaluate to a string'),
  instantiation: 'messageExpression instantiation failed: ',
};

function* compile(
  text: string,
  environment: Environment,
  options: PrepareOptions,
  sizeOf: SizeOf,
): Steps<{ readonly expression: CompiledExpression; readonly usesOldSelf: boolean }> {
  const prepared = yield* prepare(environment, text, options);
  const names = [...(prepared.checked?.references.values() ?? [])];
  const usesOldSelf = names.some(({ name }) => name === 'oldSelf');
  if (prepared.wrong !== undefined) return { expression: { wrong: prepared.wrong }, usesOldSelf };
  const { program, checked } = prepared;
  return { expression: { program, cost: () => estimate(checked, environment, sizeOf) }, usesOldSelf };
}
