import { compile, compilingCost, maxMatchingCost, type RegularExpression } from '../../api/regular-expression.js';
import { listFrom } from '../collections.js';
import { EffortExceeded, spend } from '../effort.js';
import type { Library } from '../functions.js';
import { int, listOf, string } from '../types.js';
import { Failure, type ListValue } from '../values.js';
import { matching, sizeEstimate } from './call-costs.js';
import { type Costs, member } from './declarations.js';

/** Searching with regular expressions (RE2): Kubernetes' `regex` library. */

/** Effort steps per unit of the maximum matching cost. Small patterns and texts rarely reach that maximum. */
const usualShare = 0.05;
const worstShare = 0.3;
const highCost = 100_000;
/** Effort steps per instruction that is compiled. */
const stepsOfInstruction = 20;

/**
 * Compiles the pattern for matching the text. Returns a failure if the pattern is invalid; throws if matching could
 * exceed the effort limit.
 */
export function expressionFor(text: string, pattern: string): RegularExpression | Failure {
  // Only patterns from the object can be numerous in one evaluation.
  spend(Math.ceil(compilingCost(pattern) * stepsOfInstruction));
  const { expression, error } = compile(pattern);
  if (expression === undefined) return new Failure(error);
  const cost = expression.cost(text);
  if (cost > maxMatchingCost) throw new EffortExceeded();
  spend(Math.ceil(cost * (cost > highCost ? worstShare : usualShare)));
  return expression;
}

const illegal = ({ message }: Failure): Failure => new Failure(`Illegal regex: ${message}`);

function find(text: string, pattern: string): string | Failure {
  const expression = expressionFor(text, pattern);
  return expression instanceof Failure ? illegal(expression) : (expression.find(text) ?? '');
}

function findAll(text: string, pattern: string, count = -1n): ListValue | Failure {
  const expression = expressionFor(text, pattern);
  if (expression instanceof Failure) return illegal(expression);
  const found = expression.findAll(text, count < 0n ? undefined : Number(count));
  if (found === undefined) throw new EffortExceeded();
  return listFrom(found);
}

const finding: Costs = {
  cost: matching.cost,
  estimate: (text, args) => ({
    ...matching.estimate(text, args),
    resultSize: { min: 0, max: sizeEstimate(text).max },
  }),
};

export const regex: Library = {
  functions: [
    { name: 'find', overloads: [member('string_find_string', [string, string], string, find, finding)] },
    {
      name: 'findAll',
      overloads: [
        member(
          'string_find_all_string',
          [string, string],
          listOf(string),
          (text: string, pattern: string) => findAll(text, pattern),
          finding,
        ),
        member('string_find_all_string_int', [string, string, int], listOf(string), findAll, finding),
      ],
    },
  ],
};
