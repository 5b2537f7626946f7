import { listContains } from '../collections.js';
import type { Library } from '../functions.js';
import { exactly, plus, scaled, times } from '../ranges.js';
import { bool, listOf, parameter } from '../types.js';
import type { EqualityResult, ListValue, Value } from '../values.js';
import { refuseBeyondLimit, sizeEstimate, sizeOf } from './call-costs.js';
import { type Costs, global } from './declarations.js';

/** Lists as sets: cel-go's `sets` extension. */

function contains(list: ListValue, others: ListValue): EqualityResult {
  for (let at = 0; at < others.size; at++) {
    const isThere = listContains(list, others.at(at));
    if (isThere !== true) return isThere;
  }
  return true;
}

function equivalent(a: ListValue, b: ListValue): EqualityResult {
  const isContained = contains(a, b);
  return isContained === true ? contains(b, a) : isContained;
}

function intersects(a: ListValue, b: ListValue): boolean {
  for (let at = 0; at < a.size; at++) if (listContains(b, a.at(at)) === true) return true;
  return false;
}

const T = parameter('T');

function comparison(name: string, evaluate: (a: ListValue, b: ListValue) => EqualityResult, factor: number) {
  const cost = (values: readonly Value[]): number => 1 + sizeOf(values[0]) * sizeOf(values[1]) * factor;
  const costs: Costs = {
    cost,
    estimate: (_, [a, b]) => ({
      cost: plus(scaled(times(sizeEstimate(a), sizeEstimate(b)), factor), exactly(1)),
    }),
  };
  const bounded = (a: ListValue, b: ListValue): EqualityResult => {
    refuseBeyondLimit(cost([a, b]));
    return evaluate(a, b);
  };
  const id = `list_sets_${name}_list`;
  return { name: `sets.${name}`, overloads: [global(id, [listOf(T), listOf(T)], bool, bounded, costs)] };
}

export const sets: Library = {
  functions: [
    comparison('contains', contains, 1),
    comparison('equivalent', equivalent, 2),
    comparison('intersects', intersects, 1),
  ],
};
