import { expect, test } from 'vitest';
import { outcome } from './outcome.js';

/** Each with its actual and its estimated cost. */
test.each([
  ['sets.contains([1, 2, 3], [3, 2])', 'true', 7, 27],
  ['sets.contains([1], [1, 2])', 'false', 3, 23],
  ['sets.contains([], [])', 'true', 1, 21],
  ['sets.equivalent([1, 2, 2], [2, 1])', 'true', 13, 33],
  ['sets.equivalent([1], [1, 2])', 'false', 5, 25],
  ['sets.intersects([1, 2], [2, 3])', 'true', 5, 25],
  ['sets.intersects([1], [])', 'false', 1, 21],
  ['sets.intersects([[1, 2]], [[1, 2], [3]])', 'true', 3, 53],
] as const)('%s returns %s at cost %i', (expression, answer, cost, estimate) => {
  expect(outcome(expression)).toEqual({ answer, cost, estimate });
});
