import { expect, test } from 'vitest';
import type { PolicyRule } from '../../src/api/kinds/role.js';
import { runSync } from '../../src/api/steps.js';
import { uncoveredRules, uncoveredWithin, wordCount } from '../../src/auth/rule-coverage.js';
import { countSteps } from '../count-steps.js';

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
])('the combinations that %j leaves uncovered of %j are counted', (held, wanted, missing) => {
  expect(uncoveredRules([rule('other', 'other', 'other'), held], [wanted])).toHaveLength(missing);
});

const within = (held: readonly (readonly PolicyRule[])[], wanted: PolicyRule, limit: number) =>
  runSync(uncoveredWithin(held, [wanted], limit));

const many = <T>(length: number, one: (at: number) => T): readonly T[] => Array.from({ length }, (_, at) => one(at));

test('unrelated rules are skipped without a comparison', () => {
  const held = many(1_000, () => rule('create', '', 'configmaps'));
  const words = (prefix: string): string => many(29, (at) => `${prefix}${at}`).join(' ');
  for (const [wanted, atoms] of [
    [rule(words('v'), words('g'), words('r')), 29 * 29 * 29],
    [rule('create', '', words('r')), 29],
    [rule('create', words('g'), 'configmaps'), 29],
  ] as const) {
    expect(within([held], wanted, 0)).toHaveLength(atoms);
  }
});

test('a check that needs too many comparisons gives no result', () => {
  const names = many(100, (at) => `m${at}`).join(' ');
  // Half of the rules match the resource, half match the name, and none matches both.
  const held = many(100, (at) => [rule('get', '', 'secrets', `n${at}`), rule('get', '', 'pods', names)]).flat();
  const wanted = rule('get', '', 'secrets', names);
  expect(within([held], wanted, 9_999)).toBeUndefined();
  expect(within([held], wanted, 10_000)).toHaveLength(100);
  expect(within([held, []], wanted, 10_099)).toBeUndefined();
  const urls = many(1_000, (at) => `/a${at}*`).join(' ');
  const wantedUrls = paths('get', many(1_000, (at) => `/b${at}`).join(' '));
  expect(within([[paths('get', urls)]], wantedUrls, 999_999)).toBeUndefined();
});

test('rules in several lists count as if they were in one, even with many names', () => {
  const names = (from: number, count: number): string => many(count, (at) => `n${from + at}`).join(' ');
  const held = [[rule('get', '', 'secrets', names(0, 10))], [], [rule('get', '', 'secrets', names(10, 50))]];
  expect(within(held, rule('get', '', 'secrets', names(0, 60)), 1_000)).toEqual([]);
  expect(within(held, rule('get', '', 'secrets', names(59, 2)), 1_000)).toEqual([
    { verb: 'get', group: '', resource: 'secrets', name: 'n60' },
  ]);
});

test('many rules are examined in steps, and only once', () => {
  const held = [many(100_000, (at) => rule('get', '', 'configmaps', `n${at}`))];
  const wanted = rule('get', '', 'configmaps', 'n5 n99999 m');
  const pauses = (): number => countSteps(uncoveredWithin(held, [wanted], 1_000_000)).pauses;
  expect(pauses()).toBeGreaterThan(40);
  expect(pauses()).toBeLessThan(40);
  expect(wordCount(held[0] ?? [])).toBe(400_000);
});
