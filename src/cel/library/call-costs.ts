import { codePoints } from '../code-points.js';
import { type EstimatedNode, perByte, perCallLimit, perPatternByte, type Range } from '../cost.js';
import { EffortExceeded, spend } from '../effort.js';
import { anySize, exactly, plus, scaled, times } from '../ranges.js';
import type { Value } from '../values.js';
import type { Costs } from './declarations.js';

/** Costs of library calls in Kubernetes (`k8s.io/apiserver/pkg/cel/library/cost.go`). */

/**
 * Returns the size of a value: the code points of a text, the number of bytes, items or members; 1 for all other
 * values.
 */
export function sizeOf(value: Value | undefined): number {
  if (typeof value === 'string') return codePoints(value);
  if (value instanceof Uint8Array) return value.length;
  if (typeof value !== 'object' || value === null || !('kind' in value)) return 1;
  if (value.kind === 'struct') return [...value.fields()].length;
  return value.kind === 'opaque' ? (value.size ?? 1) : value.size;
}

/** Returns the cost of traversing a value of this size. */
export const traversal = (size: number, times = 1): number => Math.ceil(size * times * perByte);

/**
 * Returns the cost of traversing a value with everything in it: a tenth per byte, rounded down per text; 1 per other
 * value.
 */
function deepTraversal(value: Value | undefined): number {
  const open = [value];
  let cost = 0;
  while (open.length > 0) {
    const next = open.pop();
    spend(1);
    if (typeof next === 'string') cost += Math.floor(Buffer.byteLength(next) * perByte);
    else if (next instanceof Uint8Array) cost += Math.floor(next.length * perByte);
    else if (typeof next !== 'object' || next === null || !('kind' in next) || next.kind === 'opaque') cost++;
    else if (next.kind === 'list') {
      spend(next.size);
      for (let at = 0; at < next.size; at++) open.push(next.at(at));
    } else if (next.kind === 'map') for (const key of next.keys()) open.push(key, next.get(key));
    else for (const field of next.fields()) open.push(field, next.get(field));
  }
  return cost;
}

export const sizeEstimate = (node: EstimatedNode | undefined): Range => node?.size ?? anySize;

/** The costs of traversing the text in the first argument, once or the given number of times. */
export const parsing = (times = 1): Costs => ({
  cost: ([text]) => traversal(sizeOf(text), times),
  estimate: (_, [text]) => ({ cost: scaled(sizeEstimate(text), times * perByte) }),
});

/**
 * The costs of matching: a tenth per code point of the text (plus one), times a quarter per code point of the pattern.
 */
export const matching = {
  cost: ([text, pattern]: readonly Value[]): number =>
    traversal(1 + sizeOf(text)) * Math.ceil(sizeOf(pattern) * perPatternByte),
  estimate: (text: EstimatedNode | undefined, [pattern]: readonly EstimatedNode[]): { readonly cost: Range } => ({
    cost: times(scaled(plus(sizeEstimate(text), exactly(1)), perByte), scaled(sizeEstimate(pattern), perPatternByte)),
  }),
} satisfies Costs;

/** Refuses work whose known cost exceeds the limit of any evaluation, before it begins: nothing could interrupt it. */
export function refuseBeyondLimit(cost: number): void {
  if (cost > perCallLimit) throw new EffortExceeded();
}
/** The longest text that an expression may make, in UTF-16 units. */
const longestText = 2 ** 24;

/** Refuses a text of this many UTF-16 units before it is made. */
export function refuseLonger(units: number): void {
  if (units > longestText) throw new EffortExceeded();
}

/** The costs of functions that traverse a list or text once: `indexOf`, `min`, `sum` and similar ones. */
export const searching = {
  cost: ([target]: readonly Value[]): number => deepTraversal(target),
  estimate: (target: EstimatedNode | undefined): { readonly cost: Range } => {
    if (target === undefined) return { cost: exactly(1) };
    const { type, size } = target;
    if (type.kind !== 'list') return { cost: scaled(size, perByte) };
    const isText = type.element.kind === 'string' || type.element.kind === 'bytes';
    const each = isText ? plus(exactly(1), scaled(target.itemSize ?? anySize, perByte)) : exactly(1);
    return { cost: times(size, each) };
  },
} satisfies Costs;
