import { trimSpace } from '../api/go-text.js';
import type { MatchCondition } from '../api/kinds/webhook-configuration.js';
import { qualifiedName } from '../api/names.js';
import type { Steps } from '../api/steps.js';
import {
  child,
  duplicate,
  eachInvalid,
  index,
  invalidExpression,
  required,
  tooMany,
  type Violation,
  validateEachInSteps,
} from '../api/violations.js';
import type { Prepared } from '../cel/prepare.js';

const maxMatchConditions = 64;

/** Validates match conditions. `compile` compiles an expression in the environment where it is used. */
export function* validateMatchConditions(
  conditions: readonly MatchCondition[],
  path: string,
  compile: (expression: string) => Steps<Prepared>,
): Steps<readonly Violation[]> {
  const seen = new Set<string>();
  return [
    ...(conditions.length > maxMatchConditions ? [tooMany(path, conditions.length, maxMatchConditions)] : []),
    ...(yield* validateEachInSteps(conditions, function* ({ name = '', expression = '' }, at): Steps<
      readonly Violation[]
    > {
      const [nameAt, expressionAt] = [child(index(path, at), 'name'), child(index(path, at), 'expression')];
      // Surrounding white space is neither validated nor reported.
      const trimmed = trimSpace(expression);
      const repeated = name !== '' && seen.has(name);
      seen.add(name);
      return [
        ...(trimmed === '' ? [required(expressionAt)] : yield* expressionViolations(trimmed, expressionAt, compile)),
        ...(name === '' ? [required(nameAt)] : eachInvalid(nameAt, name, qualifiedName(name))),
        ...(repeated ? [duplicate(nameAt, name)] : []),
      ];
    })),
  ];
}

/** Validates an expression that is not empty. */
export function* expressionViolations(
  expression: string,
  path: string,
  compile: (expression: string) => Steps<Prepared>,
): Steps<readonly Violation[]> {
  const prepared = yield* compile(expression);
  return prepared.wrong === undefined ? [] : [invalidExpression(path, expression, prepared)];
}
