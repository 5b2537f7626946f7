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

/** What is wrong with conditions, each compiled by `compile` in what expressions of its place know. */
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
      // White space around it is not part of what is judged, nor of what is said of it.
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

/** What is wrong with an expression that is there. */
export function* expressionViolations(
  expression: string,
  path: string,
  compile: (expression: string) => Steps<Prepared>,
): Steps<readonly Violation[]> {
  const prepared = yield* compile(expression);
  return prepared.wrong === undefined ? [] : [invalidExpression(path, expression, prepared)];
}
