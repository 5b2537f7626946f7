import { codePoints } from '../code-points.js';
import { type EstimatedNode, perByte, perCallLimit, perPatternByte, type Range } from '../cost.js';
import { EffortExceeded, spend } from '../effort.js';
import { anySize, exactly, plus, scaled, times } from '../ranges.js';
import type { Value } from '../values.js';
import type { Costs } from './declarations.js';

/** Costs of library calls in Kubernetes (`k8s.io/apiserver/pkg/cel/library/cost.go`). */

/** Code points of a text, bytes, items, members; 1 for all else. */
export function sizeOf(value: Value | undefined): number {
  if (typeof value === 'string') return codePoints(value);
  if (value instanceof Uint8Array) return value.length;
  if (typeof value !== 'object' || value === null || !('kind' in value)) return 1;
  if (value.kind === 'struct') return [...value.fields()].length;
  return value.kind === 'opaque' ? (value.size ?? 1) : value.size;
}

/** Looking through a value of such a size. */
export const traversal = (size: number, times = 1): number => Math.ceil(size * times * perByte);

/** Looking through everything within a value: a tenth per byte, rounded down text by text, one per other value. */
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

/** Looking once (or so often) through the text that is the first argument. */
export const parsing = (times = 1): Costs => ({
  cost: ([text]) => traversal(sizeOf(text), times),
  estimate: (_, [text]) => ({ cost: scaled(sizeEstimate(text), times * perByte) }),
});

/** A tenth for each code point of the text (and one), times a quarter for each of the pattern. */
export const matching = {
  cost: ([text, pattern]: readonly Value[]): number =>
    traversal(1 + sizeOf(text)) * Math.ceil(sizeOf(pattern) * perPatternByte),
  estimate: (text: EstimatedNode | undefined, [pattern]: readonly EstimatedNode[]): { readonly cost: Range } => ({
    cost: times(scaled(plus(sizeEstimate(text), exactly(1)), perByte), scaled(sizeEstimate(pattern), perPatternByte)),
  }),
} satisfies Costs;

/** What is known to cost more than any evaluation may is not begun: nothing could interrupt it. */
export function refuseBeyondLimit(cost: number): void {
  if (cost > perCallLimit) throw new EffortExceeded();
}
/** In units of UTF-16: an expression makes no longer text than this. */
const longestText = 2 ** 24;

/** Before a text of so many units is made. */
export function refuseLonger(units: number): void {
  if (units > longestText) throw new EffortExceeded();
}

/** Functions that go through a list or a text once: `indexOf`, `min`, `sum` and their kin. */
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
