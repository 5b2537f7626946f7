import { equal } from '../equality.js';
import type { Library } from '../functions.js';
import { exactly, plus, scaled, times } from '../ranges.js';
import { bool, listOf, parameter } from '../types.js';
import type { ListValue, Value } from '../values.js';
import { refuseBeyondLimit, sizeEstimate, sizeOf } from './call-costs.js';
import { type Costs, global } from './declarations.js';

/** Lists as sets: cel-go's `sets` extension. */

const has = (list: ListValue, wanted: Value): boolean => {
  for (let at = 0; at < list.size; at++) if (equal(wanted, list.at(at))) return true;
  return false;
};

function contains(list: ListValue, others: ListValue): boolean {
  for (let at = 0; at < others.size; at++) if (!has(list, others.at(at))) return false;
  return true;
}

const equivalent = (a: ListValue, b: ListValue): boolean => contains(a, b) && contains(b, a);

function intersects(a: ListValue, b: ListValue): boolean {
  for (let at = 0; at < a.size; at++) if (has(b, a.at(at))) return true;
  return false;
}

const T = parameter('T');

function comparison(name: string, evaluate: (a: ListValue, b: ListValue) => boolean, factor: number) {
  const cost = (values: readonly Value[]): number => 1 + sizeOf(values[0]) * sizeOf(values[1]) * factor;
  const costs: Costs = {
    cost,
    estimate: (_, [a, b]) => ({
      cost: plus(scaled(times(sizeEstimate(a), sizeEstimate(b)), factor), exactly(1)),
    }),
  };
  const bounded = (a: ListValue, b: ListValue): boolean => {
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
