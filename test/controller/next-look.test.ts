import { expect, test } from 'vitest';
import { nextLookMs } from '../../src/controller/next-look.js';

test.each([
  [0, 200],
  [4_000, 1_000],
  [3_600_000, 5_000],
  [-3_600_000, 5_000],
  [Number.NaN, 200],
])('who has waited for %i ms looks again after %i ms', (waitedMs, expected) => {
  expect(nextLookMs(waitedMs)).toBe(expected);
});
