import { spend, stepsOf } from './effort.js';
import { compare, isNumber } from './ordering.js';
import {
  Duration,
  type EqualityResult,
  Failure,
  type ListValue,
  type MapValue,
  noSuchOverload,
  Optional,
  type StructValue,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from './values.js';

/**
 * Whether two values are equal (cel-spec "Equality"). Numbers are compared across their types; NaN is not equal to
 * itself; values of different types are different. A list or map with an equality of its own decides if it is the left
 * operand. Works on values of any depth.
 */
export const equal = (a: Value, b: Value): boolean => compared(a, b) === true;

/**
 * Compares like `equal`, but returns a failure if the left value is one, or if it is one of Kubernetes' own values that
 * cannot be compared with one like the right. cel-go ignores that failure within its own lists and maps; Kubernetes
 * does not within those of a resource: `inside` says that both values come from there, where null is not special
 * either.
 */
export function compared(a: Value, b: Value, place?: 'inside'): EqualityResult {
  if (place === undefined && b === null) return a === null;
  /** The stack of pairs that must be equal too, each with whether failures matter. */
  let open: OpenPairs | undefined;
  let left: Value = a;
  let right: Value = b;
  let matters = true;
  for (;;) {
    if (isScalar(left)) {
      if (!sameScalar(left, right)) return false;
    } else {
      open ??= new OpenPairs();
      open.matters = matters;
      const same = sameShape(left, right, open);
      if (same === false || (same !== true && matters)) return same;
    }
    const next: Pair | undefined = open?.pairs.pop();
    if (next === undefined) return true;
    ({ left, right, matters } = next);
  }
}

interface Pair {
  readonly left: Value;
  readonly right: Value;
  readonly matters: boolean;
}

class OpenPairs {
  readonly pairs: Pair[] = [];
  matters = true;
}

type Scalar = null | boolean | bigint | number | string;
const isScalar = (value: Value): value is Scalar => typeof value !== 'object' || value === null;

function sameScalar(a: Scalar, b: Value): boolean {
  if (typeof a === 'string') {
    if (typeof b !== 'string') return false;
    spend(1 + stepsOf(a));
    return a === b;
  }
  spend(1);
  if (typeof a === typeof b) return a === b;
  return isNumber(a) && isNumber(b) && compare(a, b) === 0;
}

/** Compares scalars at once, and pushes pairs of other values. */
function comparePair(a: Value | undefined, b: Value | undefined, open: OpenPairs): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (isScalar(a)) return sameScalar(a, b);
  if (b === null && !open.matters) return false;
  open.pairs.push({ left: a, right: b, matters: open.matters });
  return true;
}

function sameShape(a: Exclude<Value, Scalar>, b: Value, open: OpenPairs): EqualityResult {
  spend(1);
  if (a instanceof Failure) return a;
  if (a instanceof Uint) return isNumber(b) && compare(a, b) === 0;
  if (!isComparable(a, b)) return b instanceof Failure ? b : noSuchOverload;
  if (b === null || typeof b !== 'object') return false;
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanoseconds === b.nanoseconds;
  if (a instanceof Duration) return b instanceof Duration && a.nanoseconds === b.nanoseconds;
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (a instanceof Optional) return b instanceof Optional && comparePair(a.value, b.value, open);
  if (!('kind' in a) || !('kind' in b) || a.kind !== b.kind) return false;
  switch (a.kind) {
    case 'list':
      return sameLists(a, b as ListValue, open);
    case 'map':
      return sameMaps(a, b as MapValue, open);
    case 'struct':
      return sameStructs(a, b as StructValue, open);
    default:
      return b.kind === 'opaque' && a.equals(b);
  }
}

/** Whether the values can be compared; Kubernetes' own types can be compared only with their like. */
function isComparable(a: Exclude<Value, Scalar>, b: Value): boolean {
  if (!('kind' in a)) return true;
  const other = typeof b === 'object' && b !== null && 'kind' in b ? b : undefined;
  switch (a.kind) {
    case 'list':
    case 'map':
      return !a.ofResource || other?.kind === a.kind;
    case 'opaque':
      return other?.kind === 'opaque' && other.name === a.name && a.isComparable?.(other) !== false;
    default:
      return true;
  }
}

function sameLists(a: ListValue, b: ListValue, open: OpenPairs): EqualityResult {
  if (a.equals !== undefined) return a.equals(b);
  if (a.size !== b.size) return false;
  open.matters = false;
  const { size } = a;
  let index = 0;
  for (; index < size; index++) {
    const left = a.at(index);
    const right = b.at(index);
    if (typeof left === 'bigint' && typeof right === 'bigint') {
      // Costs underestimate long lists of ints most; their effort is counted by the thousand, for speed.
      if ((index & 1023) === 1023) spend(1024);
      if (left !== right) break;
    } else if (a.ofResource) {
      // Here the first item that differs or cannot be compared decides.
      const same = compared(left, right, 'inside');
      if (same !== true) return same;
    } else if (!comparePair(left, right, open)) break;
  }
  spend(index & 1023);
  return index === size;
}

function sameMaps(a: MapValue, b: MapValue, open: OpenPairs): EqualityResult {
  if (a.equals !== undefined) return a.equals(b);
  if (a.size !== b.size) return false;
  open.matters = false;
  for (const key of a.keys()) if (!comparePair(a.get(key), b.get(key), open)) return false;
  return true;
}

function sameStructs(a: StructValue, b: StructValue, open: OpenPairs): boolean {
  if (a.name !== b.name) return false;
  for (const field of b.fields()) if (a.get(field) === undefined) return false;
  for (const field of a.fields()) if (!comparePair(a.get(field), b.get(field), open)) return false;
  return true;
}
