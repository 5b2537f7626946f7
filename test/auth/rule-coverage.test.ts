import { expect, test } from 'vitest';
import type { PolicyRule } from '../../src/api/kinds/role.js';
import { uncovered } from '../../src/auth/rule-coverage.js';

const rule = (verbs: string, apiGroups: string, resources: string, resourceNames = ''): PolicyRule => ({
  verbs: verbs.split(' '),
  apiGroups: apiGroups.split(' '),
  resources: resources.split(' '),
  ...(resourceNames === '' ? {} : { resourceNames: resourceNames.split(' ') }),
});
const paths = (verbs: string, urls: string): PolicyRule => ({
  verbs: verbs.split(' '),
  nonResourceURLs: urls.split(' '),
});

test.each<[PolicyRule, PolicyRule, number]>([
  [rule('get list', 'a b', 'x y'), rule('get', 'b', 'y'), 0],
  [rule('get list', 'a b', 'x y'), rule('get watch', 'b c', 'y'), 3],
  [rule('*', 'a', 'x'), rule('get *', 'a', 'x'), 0],
  [rule('get', '*', 'x'), rule('get', 'a *', 'x'), 0],
  [rule('get', 'a', '*'), rule('get', 'a', 'x x/y *'), 0],
  [rule('get', 'a', '*/y'), rule('get', 'a', 'x/y x x/z'), 2],
  [rule('get', 'a', 'x'), rule('get', 'a', 'x', 'n'), 0],
  [rule('get', 'a', 'x', 'n m'), rule('get', 'a', 'x', 'n o'), 1],
  [rule('get', 'a', 'x', 'n'), rule('get', 'a', 'x'), 1],
  [paths('get', '/a/* /b'), paths('get', '/a/b /b /c /a'), 2],
  [rule('*', '*', '*'), paths('get', '/a'), 1],
  [paths('*', '*'), rule('get', 'a', 'x'), 1],
])('of what %j does not cover %j has so many', (held, wanted, missing) => {
  expect(uncovered([rule('other', 'other', 'other'), held], [wanted])).toHaveLength(missing);
});

const many = <T>(length: number, one: (at: number) => T): readonly T[] => Array.from({ length }, (_, at) => one(at));

test('who holds masses of rules that have nothing to do with what is granted is compared with none of it', () => {
  const held = many(1_000, () => rule('create', '', 'configmaps'));
  const words = (prefix: string): string => many(29, (at) => `${prefix}${at}`).join(' ');
  for (const [wanted, atoms] of [
    [rule(words('v'), words('g'), words('r')), 29 * 29 * 29],
    [rule('create', '', words('r')), 29],
    [rule('create', words('g'), 'configmaps'), 29],
  ] as const) {
    expect(uncovered(held, [wanted], 0)).toHaveLength(atoms);
  }
});

test('what takes too many comparisons is not told', () => {
  const held = many(1_000, (at) => rule('get', '', 'secrets', `n${at}`));
  const wanted = rule('get', '', 'secrets', many(1_000, (at) => `m${at}`).join(' '));
  expect(uncovered(held, [wanted], 999_999)).toBeUndefined();
  expect(uncovered(held, [wanted], 1_000_000)).toHaveLength(1_000);
  const urls = many(1_000, (at) => `/a${at}*`).join(' ');
  expect(
    uncovered([paths('get', urls)], [paths('get', many(1_000, (at) => `/b${at}`).join(' '))], 999_999),
  ).toBeUndefined();
});
