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
  let open: Open | undefined;
  let left: Value = a;
  let right: Value = b;
  let matters = true;
  for (;;) {
    if (isSimple(left)) {
      if (!sameSimple(left, right)) return false;
    } else {
      open ??= new Open();
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

class Open {
  readonly pairs: Pair[] = [];
  matters = true;
}

type Simple = null | boolean | bigint | number | string;
const isSimple = (value: Value): value is Simple => typeof value !== 'object' || value === null;

function sameSimple(a: Simple, b: Value): boolean {
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
function together(a: Value | undefined, b: Value | undefined, open: Open): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (isSimple(a)) return sameSimple(a, b);
  if (b === null && !open.matters) return false;
  open.pairs.push({ left: a, right: b, matters: open.matters });
  return true;
}

function sameShape(a: Exclude<Value, Simple>, b: Value, open: Open): EqualityResult {
  spend(1);
  if (a instanceof Failure) return a;
  if (a instanceof Uint) return isNumber(b) && compare(a, b) === 0;
  if (!isComparable(a, b)) return b instanceof Failure ? b : noSuchOverload;
  if (b === null || typeof b !== 'object') return false;
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanoseconds === b.nanoseconds;
  if (a instanceof Duration) return b instanceof Duration && a.nanoseconds === b.nanoseconds;
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (a instanceof Optional) return b instanceof Optional && together(a.value, b.value, open);
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
function isComparable(a: Exclude<Value, Simple>, b: Value): boolean {
  if (!('kind' in a)) return true;
  const theirs = typeof b === 'object' && b !== null && 'kind' in b ? b : undefined;
  switch (a.kind) {
    case 'list':
    case 'map':
      return !a.ofResource || theirs?.kind === a.kind;
    case 'opaque':
      return theirs?.kind === 'opaque' && theirs.name === a.name && a.isComparable?.(theirs) !== false;
    default:
      return true;
  }
}

function sameLists(a: ListValue, b: ListValue, open: Open): EqualityResult {
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
    } else if (!together(left, right, open)) break;
  }
  spend(index & 1023);
  return index === size;
}

function sameMaps(a: MapValue, b: MapValue, open: Open): EqualityResult {
  if (a.equals !== undefined) return a.equals(b);
  if (a.size !== b.size) return false;
  open.matters = false;
  for (const key of a.keys()) if (!together(a.get(key), b.get(key), open)) return false;
  return true;
}

function sameStructs(a: StructValue, b: StructValue, open: Open): boolean {
  if (a.name !== b.name) return false;
  for (const field of b.fields()) if (a.get(field) === undefined) return false;
  for (const field of a.fields()) if (!together(a.get(field), b.get(field), open)) return false;
  return true;
}
