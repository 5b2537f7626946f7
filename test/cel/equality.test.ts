import { expect, test } from 'vitest';
import { GrowingMap, joined, listContains, listFrom, mapFrom } from '../../src/cel/collections.js';
import { equal } from '../../src/cel/equality.js';
import { compare } from '../../src/cel/ordering.js';
import {
  Duration,
  type ListValue,
  Optional,
  type StructValue,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from '../../src/cel/values.js';

const list = (...values: readonly Value[]): ListValue => listFrom(values);
const struct = (name: string, fields: Readonly<Record<string, Value>>): StructValue => ({
  kind: 'struct',
  name,
  get: (field) => (Object.hasOwn(fields, field) ? fields[field] : undefined),
  fields: () => Object.keys(fields),
});
const bytes = (...values: readonly number[]): Uint8Array => Uint8Array.from(values);

test.each<readonly [string, Value, Value, boolean]>([
  ['equal ints', 1n, 1n, true],
  ['different ints', 1n, 2n, false],
  ['an int and an equal uint', 1n, new Uint(1n), true],
  ['a negative int and a uint', -1n, new Uint(2n ** 64n - 1n), false],
  ['a uint and an equal double', new Uint(3n), 3, true],
  ['an int and a double', 1n, 1.5, false],
  ['a large int and the nearest double', 2n ** 53n + 1n, 2 ** 53, true],
  ['the largest int and the next double', 2n ** 63n - 1n, 2 ** 63, true],
  ['an int and a double beyond all ints', 2n ** 63n - 1n, 1e300, false],
  ['zero and negative zero', 0, -0, true],
  ['NaN and itself', Number.NaN, Number.NaN, false],
  ['an int and a string', 1n, '1', false],
  ['equal strings', 'a', 'a', true],
  ['strings that differ in normalization', 'é', 'e\u0301', false],
  ['equal booleans', true, true, true],
  ['null and null', null, null, true],
  ['null and false', null, false, false],
  ['a list and null', list(), null, false],
  ['equal bytes', bytes(1, 2), bytes(1, 2), true],
  ['different bytes', bytes(1, 2), bytes(1), false],
  ['the same time in different time zones', new Timestamp(5n), new Timestamp(5n, 120), true],
  ['a timestamp and a duration', new Timestamp(5n), new Duration(5n), false],
  ['equal durations', new Duration(5n), new Duration(5n), true],
  ['equal types', new TypeValue('int'), new TypeValue('int'), true],
  ['different types', new TypeValue('int'), new TypeValue('uint'), false],
  ['equal lists', list(1n, 'a'), list(new Uint(1n), 'a'), true],
  ['lists in different order', list(1n, 2n), list(2n, 1n), false],
  ['lists of different length', list(1n), list(1n, 2n), false],
  ['lists with NaN', list(Number.NaN), list(Number.NaN), false],
  ['a list and a map', list(), mapFrom([]), false],
  [
    'maps in different order',
    mapFrom([
      ['a', 1n],
      ['b', 2n],
    ]),
    mapFrom([
      ['b', 2],
      ['a', 1],
    ]),
    true,
  ],
  ['maps with numeric keys', mapFrom([[1n, 'x']]), mapFrom([[new Uint(1n), 'x']]), true],
  ['maps with different keys', mapFrom([['a', 1n]]), mapFrom([['b', 1n]]), false],
  ['maps with null under different keys', mapFrom([['a', null]]), mapFrom([['b', null]]), false],
  ['equal optionals', new Optional(list(1n)), new Optional(list(1n)), true],
  ['an empty optional and an optional null', new Optional(), new Optional(null), false],
  ['an optional and its value', new Optional(1n), 1n, false],
  ['equal structures', struct('s', { a: 1n, b: list('x') }), struct('s', { b: list('x'), a: 1n }), true],
  ['structures with different names', struct('s', { a: 1n }), struct('t', { a: 1n }), false],
  ['a structure with an additional member', struct('s', {}), struct('s', { a: 1n }), false],
])('%s: equality in both directions', (_, a, b, expected) => {
  expect([equal(a, b), equal(b, a)]).toEqual([expected, expected]);
});

test('a map with double keys equals one with int keys, but not the other way round', () => {
  const [ints, doubles] = [mapFrom([[1n, 'a']]), mapFrom([[1, 'a']])];
  expect([equal(doubles, ints), equal(ints, doubles), doubles.get(new Uint(1n))]).toEqual([true, false, undefined]);
});

test('a list with its own equals method decides if it is the left operand', () => {
  const always: ListValue = { ...list(1n, 2n), equals: () => true };
  expect([equal(always, list()), equal(list(), always), equal(list(always), list(list()))]).toEqual([
    true,
    false,
    true,
  ]);
});

test('deeply nested values are compared', () => {
  let a: Value = 1n;
  let b: Value = 1n;
  for (let depth = 0; depth < 20_000; depth++) {
    a = depth % 2 === 0 ? list(a) : mapFrom([['a', a]]);
    b = depth % 2 === 0 ? list(b) : mapFrom([['a', b]]);
  }
  expect(equal(a, b)).toBe(true);
});

test.each<readonly [string, Value, Value, number | undefined]>([
  ['ints', 1n, 2n, -1],
  ['an int and a uint', 3n, new Uint(2n), 1],
  ['a negative int and a uint', -1n, new Uint(0n), -1],
  ['an int and a double', 1n, 1.5, -1],
  ['a double and a uint', -0.5, new Uint(0n), -1],
  ['an int and a double beyond all ints', 2n ** 63n - 1n, 1e19, -1],
  ['a double beyond all uints', 1e20, new Uint(2n ** 64n - 1n), 1],
  ['NaN and an int', Number.NaN, 1n, undefined],
  ['an int and NaN', 1n, Number.NaN, undefined],
  ['strings', 'a', 'b', -1],
  ['a string and its prefix', 'ab', 'a', 1],
  ['strings by code points, not by UTF-16 units', '\uffff', '\u{10000}', -1],
  ['a lone surrogate and a later code point', '\ud800', '\ue000', -1],
  ['booleans', false, true, -1],
  ['bytes', bytes(1), bytes(1, 0), -1],
  ['timestamps', new Timestamp(2n), new Timestamp(1n), 1],
  ['durations', new Duration(1n), new Duration(1n), 0],
  ['values of different types', 'a', 1n, undefined],
  ['lists', list(1n), list(2n), undefined],
])('%s are ordered, or not comparable, in both directions', (_, a, b, expected) => {
  const sign = (order: number | undefined): number | undefined => (order === undefined ? undefined : Math.sign(order));
  expect(sign(compare(a, b))).toBe(expected);
  expect(sign(compare(b, a))).toBe(expected === undefined ? undefined : 0 - expected);
});

test('a key is found by any equal number', () => {
  const map = mapFrom([
    [1n, 'one'],
    [new Uint(2n), 'two'],
    [2n ** 60n, 'many'],
    ['1', 'text'],
    [true, 'truth'],
    ['__proto__', 'name'],
    ['\0d5', 'odd'],
  ]);
  const keys: readonly Value[] = [1, new Uint(1n), 2, 2n, 2 ** 60, '1', true, '__proto__', '\0d5'];
  expect(keys.map((key) => map.get(key))).toEqual(['one', 'one', 'two', 'two', 'many', 'text', 'truth', 'name', 'odd']);
  const absent: readonly Value[] = [1.5, 0n, 'constructor', false, null, new Duration(5n), Number.NaN];
  expect(absent.map((key) => map.get(key))).toEqual(absent.map(() => undefined));
});

test('the last entry of a repeated key counts, at the position of the first', () => {
  const map = mapFrom([
    ['a', 1n],
    ['b', 2n],
    ['a', 3n],
  ]);
  expect([[...map.keys()], map.size, map.get('a')]).toEqual([['a', 'b'], 2, 3n]);
});

test('a growing map refuses a key that equals an existing one', () => {
  const map = new GrowingMap(mapFrom([[1n, 'a']]));
  expect([map.insert(new Uint(1n), 'b'), map.insert(2n, 'c'), map.size, map.get(1n)]).toEqual([false, true, 2, 'a']);
});

test('lists are joined any number of times without being copied', () => {
  const one = list(1n, 2n, 3n);
  let all: ListValue = list();
  for (let times = 0; times < 20_000; times++) all = times % 2 === 0 ? joined(all, one) : joined(one, all);
  expect([all.size, all.at(0), all.at(59_998), all.at(59_999)]).toEqual([60_000, 1n, 2n, 3n]);
  expect(joined(list(), one)).toBe(one);
  expect(joined({ ...one, plus: () => list('merged') }, one).at(0)).toBe('merged');
});

test('a list may be joined with itself any number of times', () => {
  let all: ListValue = list(1n, 2n);
  for (let times = 0; times < 2000; times++) all = joined(all, all);
  expect([all.size, all.at(0), all.at(2 ** 40 + 1), Number.isSafeInteger(all.size / 2 ** 10)]).toEqual([
    2 ** 62,
    1n,
    2n,
    true,
  ]);
});

test('a list contains a value that equals an element', () => {
  expect([listContains(list(1n, list('a')), list('a')), listContains(list(1n), 2n)]).toEqual([true, false]);
});
