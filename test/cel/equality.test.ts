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
  ['ints', 1n, 1n, true],
  ['ints that differ', 1n, 2n, false],
  ['int and uint', 1n, new Uint(1n), true],
  ['a negative int and a uint', -1n, new Uint(2n ** 64n - 1n), false],
  ['uint and double', new Uint(3n), 3, true],
  ['int and double', 1n, 1.5, false],
  ['a large int and the nearest double', 2n ** 53n + 1n, 2 ** 53, true],
  ['the largest int and the double behind it', 2n ** 63n - 1n, 2 ** 63, true],
  ['an int and a double beyond all ints', 2n ** 63n - 1n, 1e300, false],
  ['zeros', 0, -0, true],
  ['what is not a number, and itself', Number.NaN, Number.NaN, false],
  ['int and text', 1n, '1', false],
  ['texts', 'a', 'a', true],
  ['texts that are not normalized', 'é', 'e\u0301', false],
  ['truths', true, true, true],
  ['null and null', null, null, true],
  ['null and false', null, false, false],
  ['a list and null', list(), null, false],
  ['bytes', bytes(1, 2), bytes(1, 2), true],
  ['bytes that differ', bytes(1, 2), bytes(1), false],
  ['moments, wherever they were written', new Timestamp(5n), new Timestamp(5n, 120), true],
  ['a moment and a duration', new Timestamp(5n), new Duration(5n), false],
  ['durations', new Duration(5n), new Duration(5n), true],
  ['types', new TypeValue('int'), new TypeValue('int'), true],
  ['types that differ', new TypeValue('int'), new TypeValue('uint'), false],
  ['lists', list(1n, 'a'), list(new Uint(1n), 'a'), true],
  ['lists in another order', list(1n, 2n), list(2n, 1n), false],
  ['lists of which one goes on', list(1n), list(1n, 2n), false],
  ['lists with what is not a number', list(Number.NaN), list(Number.NaN), false],
  ['a list and a map', list(), mapFrom([]), false],
  [
    'maps in another order',
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
  ['maps with numbers for keys', mapFrom([[1n, 'x']]), mapFrom([[new Uint(1n), 'x']]), true],
  ['maps of which one has another key', mapFrom([['a', 1n]]), mapFrom([['b', 1n]]), false],
  ['maps that have null and nothing', mapFrom([['a', null]]), mapFrom([['b', null]]), false],
  ['optionals', new Optional(list(1n)), new Optional(list(1n)), true],
  ['an optional without a value', new Optional(), new Optional(null), false],
  ['an optional and its value', new Optional(1n), 1n, false],
  ['structures', struct('s', { a: 1n, b: list('x') }), struct('s', { b: list('x'), a: 1n }), true],
  ['structures of two names', struct('s', { a: 1n }), struct('t', { a: 1n }), false],
  ['structures of which one has more', struct('s', {}), struct('s', { a: 1n }), false],
])('%s: equal or not, both ways round', (_, a, b, expected) => {
  expect([equal(a, b), equal(b, a)]).toEqual([expected, expected]);
});

test('a double finds the key of an int, and an int not that of a double', () => {
  const [ints, doubles] = [mapFrom([[1n, 'a']]), mapFrom([[1, 'a']])];
  expect([equal(doubles, ints), equal(ints, doubles), doubles.get(new Uint(1n))]).toEqual([true, false, undefined]);
});

test('a list with an equality of its own decides as the left one', () => {
  const always: ListValue = { ...list(1n, 2n), equals: () => true };
  expect([equal(always, list()), equal(list(), always), equal(list(always), list(list()))]).toEqual([
    true,
    false,
    true,
  ]);
});

test('values are compared at any depth', () => {
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
  ['int and uint', 3n, new Uint(2n), 1],
  ['a negative int and a uint', -1n, new Uint(0n), -1],
  ['int and double', 1n, 1.5, -1],
  ['double and uint', -0.5, new Uint(0n), -1],
  ['an int and a double beyond all ints', 2n ** 63n - 1n, 1e19, -1],
  ['a double beyond all uints', 1e20, new Uint(2n ** 64n - 1n), 1],
  ['what is not a number', Number.NaN, 1n, undefined],
  ['an int and what is not a number', 1n, Number.NaN, undefined],
  ['texts', 'a', 'b', -1],
  ['a text and its beginning', 'ab', 'a', 1],
  ['texts by code points, not by their units', '\uffff', '\u{10000}', -1],
  ['a half of a pair, and what is behind it', '\ud800', '\ue000', -1],
  ['truths', false, true, -1],
  ['bytes', bytes(1), bytes(1, 0), -1],
  ['moments', new Timestamp(2n), new Timestamp(1n), 1],
  ['durations', new Duration(1n), new Duration(1n), 0],
  ['values of two types', 'a', 1n, undefined],
  ['lists', list(1n), list(2n), undefined],
])('%s have an order, and the opposite one the other way round', (_, a, b, expected) => {
  const sign = (order: number | undefined): number | undefined => (order === undefined ? undefined : Math.sign(order));
  expect(sign(compare(a, b))).toBe(expected);
  expect(sign(compare(b, a))).toBe(expected === undefined ? undefined : 0 - expected);
});

test('a key is found as any number that equals it', () => {
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

test('the last entry of a key counts, at the place of the first', () => {
  const map = mapFrom([
    ['a', 1n],
    ['b', 2n],
    ['a', 3n],
  ]);
  expect([[...map.keys()], map.size, map.get('a')]).toEqual([['a', 'b'], 2, 3n]);
});

test('a map that grows refuses a key that equals one it has', () => {
  const map = new GrowingMap(mapFrom([[1n, 'a']]));
  expect([map.insert(new Uint(1n), 'b'), map.insert(2n, 'c'), map.size, map.get(1n)]).toEqual([false, true, 2, 'a']);
});

test('lists are joined without being copied, however often', () => {
  const one = list(1n, 2n, 3n);
  let all: ListValue = list();
  for (let times = 0; times < 20_000; times++) all = times % 2 === 0 ? joined(all, one) : joined(one, all);
  expect([all.size, all.at(0), all.at(59_998), all.at(59_999)]).toEqual([60_000, 1n, 2n, 3n]);
  expect(joined(list(), one)).toBe(one);
  expect(joined({ ...one, plus: () => list('merged') }, one).at(0)).toBe('merged');
});

test('a list may be joined with itself however often', () => {
  let all: ListValue = list(1n, 2n);
  for (let times = 0; times < 2000; times++) all = joined(all, all);
  expect([all.size, all.at(0), all.at(2 ** 40 + 1), Number.isSafeInteger(all.size / 2 ** 10)]).toEqual([
    2 ** 62,
    1n,
    2n,
    true,
  ]);
});

test('a list contains what equals an element', () => {
  expect([listContains(list(1n, list('a')), list('a')), listContains(list(1n), 2n)]).toEqual([true, false]);
});
