import { hashOf } from '../collections.js';
import { compared } from '../equality.js';
import { sizeOf, traversal } from '../library/call-costs.js';
import { Failure, type ListValue, noSuchOverload, Optional, Uint, type Value } from '../values.js';
import type { Step } from './frame.js';

/** Operators that do not evaluate all their operands, or are charged differently from functions. */

/**
 * Plans `&&` (`deciding` is false) or `||` (true): one deciding operand decides, whatever the others are, failures
 * included.
 */
export function connective(steps: readonly Step[], deciding: boolean): Step {
  return (frame) => {
    let failure: Failure | undefined;
    for (let place = 0; place < steps.length; place++) {
      const value = (steps[place] as Step)(frame);
      if (value === deciding) return deciding;
      if (typeof value !== 'boolean') failure ??= value instanceof Failure ? value : noSuchOverload;
    }
    return failure ?? !deciding;
  };
}

/**
 * Plans `==` (`expected` is true) or `!=`. It costs a tenth for each unit of the smaller value; comparing opaque values
 * by `==` costs one.
 */
export const equality =
  (first: Step, second: Step, expected: boolean): Step =>
  (frame) => {
    const left = first(frame);
    const right = second(frame);
    const isOpaque = typeof left === 'object' && left !== null && 'kind' in left && left.kind === 'opaque';
    frame.charge(expected && isOpaque ? 1 : traversal(Math.min(sizeInCosts(left), sizeInCosts(right))));
    if (left instanceof Failure) return left;
    if (right instanceof Failure) return right;
    const same = compared(left, right);
    return expected ? same : same !== true;
  };

/** Returns the size of a value for costs; an optional has the size of its value. */
function sizeInCosts(value: Value): number {
  if (typeof value !== 'object') return typeof value === 'string' ? sizeOf(value) : 1;
  let inner: Value = value;
  while (inner instanceof Optional && inner.value !== undefined) inner = inner.value;
  return sizeOf(inner);
}

/**
 * Plans `x in [1, 2, 3]`: a lookup in a list of constants, which costs nothing. Returns undefined if the elements
 * cannot be looked up.
 */
export function membership(elements: ListValue, first: Step): Step | undefined {
  const known = new Set<unknown>();
  for (let place = 0; place < elements.size; place++) {
    const element = elements.at(place);
    if (element === null || (typeof element === 'object' && !(element instanceof Uint))) return undefined;
    known.add(hashOf(element));
  }
  return (frame) => {
    const value = first(frame);
    return value instanceof Failure ? value : known.size > 0 && known.has(hashOf(value));
  };
}

/** Plans `a.or(b)` or `a.orValue(b)`: the second operand is evaluated only if the first has no value. Costs nothing. */
export const alternative =
  (first: Step, second: Step, unwraps: boolean): Step =>
  (frame) => {
    const value = first(frame);
    if (value instanceof Failure) return value;
    if (!(value instanceof Optional)) return noSuchOverload;
    if (value.value === undefined) return second(frame);
    return unwraps ? value.value : value;
  };
