import { spend } from './effort.js';
import { compared, equal } from './equality.js';
import { EvaluationAborted } from './evaluation/frame.js';
import { unhashableType } from './runtime-types.js';
import {
  Duration,
  type EqualityResult,
  Failure,
  type ListValue,
  type MapValue,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from './values.js';

/** Returns a list over an array, which must not change any more. */
export function listFrom(values: readonly Value[]): ListValue {
  return { kind: 'list', size: values.length, at: (index) => values[index] as Value };
}

/**
 * Concatenates two lists without copying, because concatenation costs one unit however long the lists are. A left list
 * with a `plus` of its own merges instead.
 */
export function joined(left: ListValue, right: ListValue): ListValue {
  if (left.plus !== undefined) return left.plus(right);
  if (left instanceof GrowingList) return left.add(right);
  if (left.size === 0 && !left.ofResource) return right;
  if (right.size === 0) return left;
  return new JoinedList(left, right);
}

/** The maximum size of a list: one that is repeatedly joined with itself doubles in size. */
const largestSize = 2 ** 62;
/** The number of parts up to which they are indexed; lists with more are searched for every element. */
const mostParts = 10_000;

class JoinedList implements ListValue {
  readonly kind = 'list';
  readonly size: number;
  readonly ofResource: boolean;
  readonly #left: ListValue;
  readonly #right: ListValue;
  /** The number of lists that are not joined themselves. */
  readonly #count: number;
  /** Those lists in order, with the index at which each begins; computed when an element is first read. */
  #parts: { readonly lists: readonly ListValue[]; readonly starts: readonly number[] } | undefined;
  /** The part read last, which is usually read next. */
  #last = 0;

  constructor(left: ListValue, right: ListValue) {
    this.#left = left;
    this.#right = right;
    this.ofResource = left.ofResource === true;
    this.size = Math.min(largestSize, left.size + right.size);
    this.#count = JoinedList.#partsOf(left) + JoinedList.#partsOf(right);
  }

  static #partsOf(list: ListValue): number {
    return list instanceof JoinedList ? list.#count : 1;
  }

  at(index: number): Value {
    if (this.#count === 2 || this.#count > mostParts) return this.#walk(index);
    this.#parts ??= this.#flattened();
    const { lists, starts } = this.#parts;
    let part = this.#last;
    if (index < (starts[part] as number) || index >= (starts[part + 1] as number)) {
      let low = 0;
      let high = lists.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if ((starts[middle] as number) <= index) low = middle;
        else high = middle - 1;
      }
      part = low;
      this.#last = part;
    }
    return (lists[part] as ListValue).at(index - (starts[part] as number));
  }

  #walk(index: number): Value {
    let list: ListValue = this;
    let place = index;
    let depth = 0;
    while (list instanceof JoinedList) {
      const { size } = list.#left;
      if (place < size) list = list.#left;
      else {
        place -= size;
        list = list.#right;
      }
      depth++;
    }
    spend(depth >> 3);
    return list.at(place);
  }

  #flattened(): { readonly lists: readonly ListValue[]; readonly starts: readonly number[] } {
    const lists: ListValue[] = [];
    const open: ListValue[] = [this];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next instanceof JoinedList) open.push(next.#right, next.#left);
      else lists.push(next);
    }
    const starts = [0];
    for (const { size } of lists) starts.push((starts.at(-1) as number) + size);
    return { lists, starts };
  }
}

/** Returns a map of the entries in their order; the last one of equal keys wins. */
export function mapFrom(entries: Iterable<readonly [Value, Value]>): MapValue {
  const map = new Map<unknown, readonly [Value, Value]>();
  for (const entry of entries) map.set(hashOf(entry[0]), entry);
  return mapOfHashed(map);
}

/** Returns a map over entries by the `hashOf` of their keys; the entries must not change any more. */
const mapOfHashed = (map: ReadonlyMap<unknown, readonly [Value, Value]>): MapValue => ({
  kind: 'map',
  size: map.size,
  get: (key) => {
    if (map.size === 0 || (typeof key === 'number' && Number.isNaN(key))) return undefined;
    const entry = map.get(hashOf(key));
    // A double key matches an equal integer key, but not the other way round.
    return entry === undefined || (typeof entry[0] === 'number' && typeof key !== 'number') ? undefined : entry[1];
  },
  *keys() {
    for (const [key] of map.values()) yield key;
  },
});

/**
 * Returns a value that a JavaScript Map distinguishes exactly as CEL equality does: int 1, uint 1 and double 1.0 are
 * the same key. Lists and maps are equal only to themselves. Throws `EvaluationAborted` for values that no Go map
 * accepts as a key.
 */
export function hashOf(key: Value): unknown {
  if (typeof key === 'string') return key.startsWith(mark) ? mark + key : key;
  if (typeof key === 'bigint') return wholeHash(key);
  if (key instanceof Uint) return wholeHash(key.value);
  if (typeof key === 'number') {
    if (Number.isSafeInteger(key)) return key === 0 ? 0 : key;
    return Number.isInteger(key) ? BigInt(key) : Number.isNaN(key) ? Symbol('NaN') : key;
  }
  if (key instanceof Duration) return `${mark}d${key.nanoseconds}`;
  if (key instanceof Timestamp) return `${mark}t${key.nanoseconds}`;
  if (key instanceof TypeValue) return `${mark}y${key.name}`;
  const unhashable = unhashableType(key);
  if (unhashable !== undefined) throw new EvaluationAborted(`runtime error: hash of unhashable type ${unhashable}`);
  return key;
}

/** Returns a number where that is exact: it is hashed faster than a bigint. */
const wholeHash = (value: bigint): number | bigint => {
  const small = Number(value);
  return Number.isSafeInteger(small) ? small : value;
};

/** Marks the hash of a key that is no text; a text that begins with the mark gets a second one. */
const mark = '\0';

/** Whether the list contains the value. In a list of a resource, an element that cannot be compared is a failure. */
export function listContains(list: ListValue, value: Value): EqualityResult {
  if (list.ofResource) {
    if (value instanceof Failure) return value;
    let failure: Failure | undefined;
    for (let index = 0; index < list.size; index++) {
      const same = compared(list.at(index), value, 'inside');
      if (same === true) return true;
      if (same !== false) failure ??= same;
    }
    return failure ?? false;
  }
  for (let index = 0; index < list.size; index++) if (equal(value, list.at(index))) return true;
  return false;
}

/**
 * A list that grows in place, for the accumulator of a fold, which would otherwise be copied at every step. The result
 * of the fold is `finished()`.
 */
export class GrowingList implements ListValue {
  readonly kind = 'list';
  readonly #values: Value[] = [];

  get size(): number {
    return this.#values.length;
  }

  at(index: number): Value {
    return this.#values[index] as Value;
  }

  add(other: ListValue): this {
    const { size } = other;
    for (let index = 0; index < size; index++) {
      spend(1);
      this.#values.push(other.at(index));
    }
    return this;
  }

  finished(): ListValue {
    return listFrom(this.#values);
  }
}

/** A map that grows in place, for the accumulator of a fold. */
export class GrowingMap implements MapValue {
  readonly kind = 'map';
  readonly #entries = new Map<unknown, readonly [Value, Value]>();
  readonly #map = mapOfHashed(this.#entries);

  constructor(start?: MapValue) {
    if (start !== undefined) for (const key of start.keys()) this.insert(key, start.get(key) as Value);
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Value): Value | undefined {
    return this.#map.get(key);
  }

  keys(): Iterable<Value> {
    return this.#map.keys();
  }

  /** Inserts an entry; returns false if the key exists. */
  insert(key: Value, value: Value): boolean {
    spend(24);
    const hash = hashOf(key);
    if (this.#entries.has(hash)) return false;
    this.#entries.set(hash, [key, value]);
    return true;
  }

  finished(): MapValue {
    return mapOfHashed(this.#entries);
  }
}
