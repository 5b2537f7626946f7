import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runSync } from '../../src/api/steps.js';
import { same, sameInSteps } from '../../src/schema/same.js';
import { countSteps } from '../count-steps.js';

test('values equal themselves in another order, and nothing else', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
      const copy: unknown = JSON.parse(JSON.stringify(left), (_, value: unknown) =>
        typeof value === 'object' && value !== null && !Array.isArray(value)
          ? Object.fromEntries(Object.entries(value).reverse())
          : value,
      );
      expect(same(left, copy)).toBe(true);
      expect(same(left, { other: left })).toBe(false);
      expect(same(left, right)).toBe(runSync(sameInSteps(left, right)));
    }),
  );
});

test('large values are compared in steps', () => {
  const members = (last: number): object =>
    Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`k${at}`, at === 0 ? last : at]));
  const { pauses, result } = countSteps(sameInSteps({ in: members(1) }, { in: members(1) }));
  expect(pauses).toBeGreaterThan(3);
  expect(result).toBe(true);
  expect(runSync(sameInSteps({ in: members(1) }, { in: members(2) }))).toBe(false);
});

test.each([
  [2n ** 53n, 2 ** 53, true],
  [2n ** 53n + 1n, 2 ** 53, false],
  [2 ** 63, 2n ** 63n - 1n, false],
])('a whole number equals itself, as a double or not: %s, %s', (left, right, equal) => {
  expect(same({ n: left }, { n: right })).toBe(equal);
});
