import { isInt64 } from '../../api/go-integers.js';
import { listFrom } from '../collections.js';
import { maxCost, perByte, type Range } from '../cost.js';
import { spend } from '../effort.js';
import { equal } from '../equality.js';
import type { Library } from '../functions.js';
import { compare } from '../ordering.js';
import { exactly, plus, scaled, times } from '../ranges.js';
import {
  bool,
  bytes,
  double,
  duration,
  dyn,
  int,
  listOf,
  parameter,
  string,
  type Type,
  timestamp,
  uint,
} from '../types.js';
import {
  Duration,
  Failure,
  isList,
  type ListValue,
  noSuchOverload,
  receivers,
  Timestamp,
  Uint,
  type Value,
} from '../values.js';
import { refuseBeyondLimit, searching, sizeEstimate, sizeOf } from './call-costs.js';
import { type Costs, global, member } from './declarations.js';
import { longerDuration, longerTimestamp } from './timestamps.js';
import { typeNameOf } from './type-name.js';

/** List functions: Kubernetes' `lists` library in its first version, and cel-go's `lists` extension, version 3. */

const comparable: readonly (readonly [string, Type])[] = [
  ['int', int],
  ['uint', uint],
  ['double', double],
  ['bool', bool],
  ['duration', duration],
  ['timestamp', timestamp],
  ['string', string],
  ['bytes', bytes],
];

/** Names of the types with an order: booleans, numbers, texts, bytes, timestamps and durations. */
const comparableNames = new Set(
  [false, 1n, new Uint(1n), 1, '', new Uint8Array(), new Duration(0n)].map((value) => typeNameOf(value)),
).add('google.protobuf.Timestamp');
const isComparable = (value: Value): boolean => comparableNames.has(typeNameOf(value));

/** Whether the list is sorted. Values of different types have no order, so they never count as unsorted. */
function isSorted(list: ListValue): boolean | Failure {
  spend(list.size);
  let previous: Value | undefined;
  for (let at = 0; at < list.size; at++) {
    const next = list.at(at);
    if (!isComparable(next)) return noSuchOverload;
    if (previous !== undefined && sameTypeOrder(previous, next) > 0) return false;
    previous = next;
  }
  return true;
}

const sameTypeOrder = (a: Value, b: Value): number => compare(a, b) ?? 0;

const extreme =
  (name: string, sign: 1 | -1) =>
  (list: ListValue): Value => {
    spend(list.size);
    let found: Value | undefined;
    for (let at = 0; at < list.size; at++) {
      const next = list.at(at);
      if (!isComparable(next)) return noSuchOverload;
      if (found === undefined || sameTypeOrder(found, next) * sign > 0) found = next;
    }
    return found ?? new Failure(`${name} called on empty list`);
  };

/** Adds a duration to a duration or a timestamp. */
function addDuration(sum: Value, next: Value): Value {
  if (next instanceof Duration) {
    if (sum instanceof Duration) return longerDuration(1n)(sum, next);
    if (sum instanceof Timestamp) return longerTimestamp(1n)(sum, next);
  }
  return sum instanceof Duration && next instanceof Timestamp ? longerTimestamp(1n)(next, sum) : noSuchOverload;
}

const summable = [
  ['int', int],
  ['uint', uint],
  ['double', double],
  ['duration', duration],
] as const;
const sums: Readonly<Record<(typeof summable)[number][0], (list: ListValue) => Value>> = {
  int: (list) => {
    spend(list.size);
    let sum = 0n;
    for (let at = 0; at < list.size; at++) {
      const next = list.at(at);
      if (typeof next !== 'bigint') return noSuchOverload;
      sum += next;
      if (!isInt64(sum)) return new Failure('integer overflow');
    }
    return sum;
  },
  uint: (list) => {
    spend(list.size);
    let sum = 0n;
    for (let at = 0; at < list.size; at++) {
      const next = list.at(at);
      if (!(next instanceof Uint)) return noSuchOverload;
      sum += next.value;
      if (BigInt.asUintN(64, sum) !== sum) return new Failure('unsigned integer overflow');
    }
    return new Uint(sum);
  },
  double: (list) => {
    spend(list.size);
    let sum = 0;
    for (let at = 0; at < list.size; at++) {
      const next = list.at(at);
      if (typeof next !== 'number') return noSuchOverload;
      sum += next;
    }
    return sum;
  },
  duration: (list) => {
    spend(list.size);
    let sum: Value = new Duration(0n);
    for (let at = 0; at < list.size && !(sum instanceof Failure); at++) sum = addDuration(sum, list.at(at));
    return sum;
  },
};

function firstPlace(list: ListValue, value: Value): bigint {
  spend(list.size);
  for (let at = 0; at < list.size; at++) if (equal(list.at(at), value)) return BigInt(at);
  return -1n;
}

function lastPlace(list: ListValue, value: Value): bigint {
  spend(list.size);
  for (let at = list.size - 1; at >= 0; at--) if (equal(list.at(at), value)) return BigInt(at);
  return -1n;
}

function slice(list: ListValue, start: bigint, end: bigint): ListValue | Failure {
  const wrong = (problem: string): Failure => new Failure(`cannot slice(${start}, ${end}), ${problem}`);
  if (start < 0n || end < 0n) return wrong('negative indexes not supported');
  if (start > end) return wrong('start index must be less than or equal to end index');
  if (BigInt(list.size) < end) return wrong(`list is length ${list.size}`);
  const first = Number(start);
  return { kind: 'list', size: Number(end) - first, at: (index) => list.at(first + index) };
}

function flatten(list: Value, ...depths: readonly Value[]): ListValue | Failure {
  const [depth = 1n] = depths;
  if (!isList(list) || typeof depth !== 'bigint') {
    return new Failure(`no such overload: ${wholeTypeName(list)}.flatten(${depths.map(wholeTypeName).join()})`);
  }
  if (depth < 0n) return new Failure('level must be non-negative');
  const flat: Value[] = [];
  const open: { readonly list: ListValue; next: number }[] = [{ list, next: 0 }];
  for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
    if (level.next >= level.list.size) {
      open.pop();
      continue;
    }
    spend(4);
    const value = level.list.at(level.next++);
    if (isList(value) && BigInt(open.length) <= depth) open.push({ list: value, next: 0 });
    else flat.push(value);
  }
  return listFrom(flat);
}

/** Returns the name of a value's type with its parameters; only the error messages of `flatten` show these. */
const wholeTypeName = (value: Value): string => {
  const name = typeNameOf(value);
  return name === 'list' ? 'list(dyn)' : name === 'map' ? 'map(dyn, dyn)' : name;
};

function sort(list: Value): ListValue | Failure {
  if (isList(list)) return sortByKeys(list, list);
  return receivers.has(typeNameOf(list)) ? noSuchOverload : new Failure('no such overload: sort');
}

/** Returns the elements of `list` sorted by `keys`. */
function sortByKeys(list: ListValue, keys: ListValue): ListValue | Failure {
  if (list.size !== keys.size) {
    return new Failure(
      `@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got ${list.size} and ${keys.size} elements respectively`,
    );
  }
  if (list.size === 0) return list;
  spend(10 * list.size);
  const first = keys.at(0);
  if (!isComparable(first)) return new Failure('list elements must be comparable');
  const pairs = Array.from({ length: list.size }, (_, at) => ({ key: keys.at(at), value: list.at(at) }));
  const type = typeNameOf(first);
  if (pairs.some(({ key }) => typeNameOf(key) !== type)) return new Failure('list elements must have the same type');
  if (pairs.length > fewElements) pairs.sort((a, b) => sameTypeOrder(a.key, b.key));
  else sortFew(pairs);
  return listFrom(pairs.map(({ value }) => value));
}

/** The size up to which Go sorts by insertion, which decides the position of NaN, a value without order. */
const fewElements = 12;

function sortFew(pairs: { readonly key: Value; readonly value: Value }[]): void {
  for (let end = 1; end < pairs.length; end++) {
    for (let at = end; at > 0; at--) {
      const [before, after] = [pairs[at - 1], pairs[at]];
      if (before === undefined || after === undefined || sameTypeOrder(after.key, before.key) >= 0) break;
      pairs[at - 1] = after;
      pairs[at] = before;
    }
  }
}

/** Returns the list of integers from 0 up to `end`; elements are made on demand. */
const range = (end: bigint): ListValue => ({
  kind: 'list',
  size: Math.max(0, Number(end)),
  at: (index) => BigInt(index),
});

const reverse = (list: ListValue): ListValue => ({
  kind: 'list',
  size: list.size,
  at: (index) => list.at(list.size - 1 - index),
});

/** Returns the list without duplicates, keeping the first of equal elements. */
function distinct(list: ListValue): ListValue {
  refuseBeyondLimit(selfComparison(list));
  const found: Value[] = [];
  for (let at = 0; at < list.size; at++) {
    const value = list.at(at);
    if (!found.some((other) => equal(value, other))) found.push(value);
  }
  return list.size === 0 ? list : listFrom(found);
}

/** The cost of the call plus that of the new list. */
const allocating = 11;
const allocated = (size: Range, factor: number) => ({
  cost: plus(scaled(size, factor), exactly(allocating)),
  resultSize: size,
});

/** Returns the cost of comparing every element with every other one. */
function selfComparison(list: Value | undefined): number {
  const size = sizeOf(list);
  const first = list !== undefined && isList(list) && list.size > 0 ? list.at(0) : undefined;
  const factor = typeof first === 'string' || first instanceof Uint8Array ? 2 + perByte : 2;
  return Math.trunc(size * size * factor) + allocating;
}

const outputSize = (_: readonly Value[], result: Value): number => sizeOf(result) + allocating;
const wholeLiteral = (literal: unknown, otherwise: number): number =>
  typeof literal !== 'bigint' ? otherwise : literal < 0n ? 0 : Number(literal);

const slicing: Costs = {
  cost: outputSize,
  estimate: (target, [start, end]) => {
    const size = wholeLiteral(end?.literal, sizeEstimate(target).max) - wholeLiteral(start?.literal, 0);
    // cel-go's unsigned numbers wrap around below zero.
    return allocated(exactly(size < 0 ? size + maxCost : size), 1);
  },
};
const flattening: Costs = {
  cost: ([list, depth]) => {
    const cost = Math.trunc(sizeOf(list) * (typeof depth === 'bigint' ? Number(depth) : 1)) + allocating;
    return cost < 0 ? Math.max(cost, -maxCost / 2) + maxCost : cost;
  },
  estimate: (target, [depth]) =>
    allocated(sizeEstimate(target), depth === undefined ? 1 : wholeLiteral(depth.literal, maxCost)),
};
const ranging: Costs = {
  cost: outputSize,
  estimate: (_, [end]) => allocated(exactly(wholeLiteral(end?.literal, maxCost)), 1),
};
const reversing: Costs = { cost: outputSize, estimate: (target) => allocated(sizeEstimate(target), 1) };
const distinguishing: Costs = {
  cost: ([list]) => selfComparison(list),
  estimate: (target) => allocated(times(sizeEstimate(target), sizeEstimate(target)), 2),
};
const sorting = (type: Type, keys: 0 | 1): Costs => ({
  cost: (values) => selfComparison(values[keys]),
  estimate: (target, args) => {
    const size = sizeEstimate(keys === 0 ? target : args[0]);
    return allocated(times(size, size), type === string || type === bytes ? 2 + perByte : 2);
  },
});

const T = parameter('T');
const A = parameter('A');

/** Returns the protobuf name of a timestamp or duration type, for type names. */
const protobufName = (name: string): string =>
  name === 'duration' || name === 'timestamp'
    ? `google.protobuf.${name === 'duration' ? 'Duration' : 'Timestamp'}`
    : name;

export const lists: Library = {
  functions: [
    {
      name: 'isSorted',
      overloads: comparable.map(([name, type]) =>
        member(`list_${name}_is_sorted_bool`, [listOf(type)], bool, isSorted, searching),
      ),
    },
    {
      name: 'min',
      overloads: comparable.map(([name, type]) =>
        member(`list_${name}_min_${name}`, [listOf(type)], type, extreme('min', 1), searching),
      ),
    },
    {
      name: 'max',
      overloads: comparable.map(([name, type]) =>
        member(`list_${name}_max_${name}`, [listOf(type)], type, extreme('max', -1), searching),
      ),
    },
    {
      name: 'sum',
      overloads: summable.map(([name, type]) =>
        member(`list_${name}_sum_${name}`, [listOf(type)], type, sums[name], searching),
      ),
    },
    { name: 'indexOf', overloads: [member('list_a_index_of_int', [listOf(A), A], int, firstPlace, searching)] },
    { name: 'lastIndexOf', overloads: [member('list_a_last_index_of_int', [listOf(A), A], int, lastPlace, searching)] },
    { name: 'slice', overloads: [member('list_slice', [listOf(T), int, int], listOf(T), slice, slicing)] },
    {
      name: 'flatten',
      overloads: [
        {
          ...member('list_flatten', [listOf(listOf(T))], listOf(T), (list: Value) => flatten(list), flattening),
          unguarded: true,
        },
        { ...member('list_flatten_int', [listOf(dyn), int], listOf(dyn), flatten, flattening), unguarded: true },
      ],
    },
    {
      name: 'sort',
      overloads: comparable.map(([name, type]) => ({
        ...member(`list_${protobufName(name)}_sort`, [listOf(type)], listOf(type), sort, sorting(type, 0)),
        unguarded: true,
        undecidedCost: () => 1,
      })),
    },
    {
      name: '@sortByAssociatedKeys',
      overloads: comparable.map(([name, type]) => ({
        ...member(
          `list_${protobufName(name)}_sortByAssociatedKeys`,
          [listOf(T), listOf(type)],
          listOf(T),
          sortByKeys,
          sorting(type, 1),
        ),
        unguarded: true,
        undecidedCost: () => 1,
      })),
    },
    { name: 'lists.range', overloads: [global('lists_range', [int], listOf(int), range, ranging)] },
    { name: 'reverse', overloads: [member('list_reverse', [listOf(T)], listOf(T), reverse, reversing)] },
    { name: 'distinct', overloads: [member('list_distinct', [listOf(T)], listOf(T), distinct, distinguishing)] },
  ],
};
