import { expect, test } from 'vitest';
import { caDatesProblem } from '../../src/server/ca-dates.js';

const year = 365 * 86_400_000;
const dates = { notBefore: 1_000, notAfter: 3 * year };

test.each([
  [999, /is not valid yet/],
  [1_000, undefined],
  [2 * year, undefined],
  [2 * year + 1, /ends within a year/],
  [3 * year - 1, /ends within a year/],
  [3 * year, /has come to its end/],
])('at %d', (now, problem) => {
  const found = caDatesProblem(dates, now);
  if (problem === undefined) expect(found).toBe(undefined);
  else expect(found).toMatch(problem);
});
