import { describe, expect, test } from 'vitest';
import { runSync } from '../../src/api/steps.js';
import { environmentOf } from '../../src/cel/environment.js';
import { estimate } from '../../src/cel/estimate.js';
import { kubernetesLibraries } from '../../src/cel/kubernetes.js';
import { int, listOf, mapOf, string, type Type } from '../../src/cel/types.js';

const environment = environmentOf({
  variables: new Map<string, Type>([
    ['i', int],
    ['s', string],
    ['t', string],
    ['ls', listOf(string)],
    ['lm', listOf(mapOf(string, listOf(string)))],
    ['m', mapOf(string, listOf(string))],
  ]),
  libraries: kubernetesLibraries,
  bindings: true,
});

function estimated(text: string, sizes: Readonly<Record<string, number>> = {}): readonly [number, number] {
  const { checked, issues } = runSync(environment.compile(text));
  if (checked === undefined) throw new Error(issues[0]?.text);
  const sizeOf = (path: readonly string[]) => {
    const size = sizes[path.join('.')];
    return size === undefined ? undefined : { min: 0, max: size };
  };
  const { min, max } = runSync(estimate(checked, environment, sizeOf));
  return [min, max];
}

const sizes = {
  s: 100,
  t: 10,
  ls: 5,
  'ls.@items': 20,
  lm: 3,
  'lm.@items.a': 4,
  'lm.@items.b': 50,
  m: 7,
  'm.@values': 6,
};

describe('with size limits', () => {
  test.each<[string, number, number]>([
    ['1 + 2', 1, 1],
    ['i == 1', 2, 2],
    ['[1, 2]', 10, 10],
    ["{'a': 1}", 30, 30],
    ['s == t', 3, 3],
    ['s.contains(t)', 2, 12],
    ["s.matches('a+')", 2, 12],
    ["s.startsWith('abc')", 2, 2],
    ['s + t', 2, 13],
    ['s in ls', 2, 7],
    ['i > 0 && s == t', 2, 5],
    ['i > 0 ? s : s + s', 3, 24],
    ['ls.all(x, x == t)', 2, 32],
    ["lm.all(x, x.a.exists(y, y == 'b'))", 2, 92],
    ['m.all(k, v, size(v) > 0)', 2, 44],
    ['ls.map(x, x.upperAscii()).size() > 0', 14, 89],
    ['cel.bind(x, s + s, x == t)', 15, 35],
    ['has(m.a) && m.a.size() > 1', 1, 5],
    ['ls.join(t)', 2, 16],
    ['ls.isSorted()', 1, 16],
    ['bytes(s).size()', 2, 12],
    ['dyn(ls).size()', 3, 3],
    ['quantity(s) == quantity(t)', 3, 14],
  ])('the cost of %s is estimated', (text, min, max) => {
    expect(estimated(text, sizes)).toEqual([min, max]);
  });
});

describe('without size limits', () => {
  test.each<[string, number, number]>([
    ["s == 'abc'", 2, 2],
    ['s == t', 3, 2 ** 64 / 10],
    ['ls.all(x, x == t)', 2, 2 ** 64],
    ["m['a'].isSorted()", 2, 2 ** 64],
    ["'%d'.format([i])", 12, 12],
    ['string(i) == t', 4, 2 ** 64 / 10],
  ])('the cost of %s is estimated', (text, min, max) => {
    const [least, most] = estimated(text);
    expect(least).toBe(min);
    expect(Math.abs(most - max) / max).toBeLessThan(1e-9);
  });
});

test('as in cel-go, paths share a suffix: an inner list has the size of the last selected one', () => {
  const text = 'lm.all(x, x.a.all(y, y in x.b))';
  expect(estimated(text, { lm: 3, 'lm.@items.a': 4, 'lm.@items.b': 50 })).not.toEqual(
    estimated(text, { lm: 3, 'lm.@items.a': 4, 'lm.@items.b': 4 }),
  );
});

test('a chain of hundreds of operators can be estimated', () => {
  expect(estimated(`1${'+1'.repeat(249)}`)).toEqual([249, 249]);
});
