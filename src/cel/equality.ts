import { spend, stepsOf } from './effort.js';
import { compare, isNumber } from './ordering.js';
import {
  Duration,
  type ListValue,
  type MapValue,
  Optional,
  type StructValue,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from './values.js';

/**
 * Are two values the same (cel-spec "Equality")? Numbers are compared across their types; what is not a number is not even
 * itself; values of different types are different. A list or map with an equality of its own decides as the left one. Works on
 * values of any depth.
 */
export function equal(a: Value, b: Value): boolean {
  /** Pairs that must be equal too, one behind the other. */
  let open: Value[] | undefined;
  let left: Value = a;
  let right: Value = b;
  for (;;) {
    if (isSimple(left)) {
      if (!sameSimple(left, right)) return false;
    } else {
      open ??= [];
      if (!sameShape(left, right, open)) return false;
    }
    if (open === undefined || open.length === 0) return true;
    right = open.pop() as Value;
    left = open.pop() as Value;
  }
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

/** Compares what is not made of other values at once, and leaves pairs of others to be compared. */
function together(a: Value | undefined, b: Value | undefined, open: Value[]): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (isSimple(a)) return sameSimple(a, b);
  open.push(a, b);
  return true;
}

function sameShape(a: Exclude<Value, Simple>, b: Value, open: Value[]): boolean {
  spend(1);
  if (a instanceof Uint) return isNumber(b) && compare(a, b) === 0;
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

function sameLists(a: ListValue, b: ListValue, open: Value[]): boolean {
  if (a.equals !== undefined) return a.equals(b);
  if (a.size !== b.size) return false;
  const { size } = a;
  let index = 0;
  for (; index < size; index++) {
    const left = a.at(index);
    const right = b.at(index);
    if (typeof left === 'bigint' && typeof right === 'bigint') {
      // Long lists of ints are what costs say least about: they are counted by the thousand, to be fast.
      if ((index & 1023) === 1023) spend(1024);
      if (left !== right) break;
    } else if (!together(left, right, open)) break;
  }
  spend(index & 1023);
  return index === size;
}

function sameMaps(a: MapValue, b: MapValue, open: Value[]): boolean {
  if (a.equals !== undefined) return a.equals(b);
  if (a.size !== b.size) return false;
  for (const key of a.keys()) if (!together(a.get(key), b.get(key), open)) return false;
  return true;
}

function sameStructs(a: StructValue, b: StructValue, open: Value[]): boolean {
  if (a.name !== b.name) return false;
  for (const field of b.fields()) if (a.get(field) === undefined) return false;
  for (const field of a.fields()) if (!together(a.get(field), b.get(field), open)) return false;
  return true;
}
