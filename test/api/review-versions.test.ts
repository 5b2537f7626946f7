import { expect, test } from 'vitest';
import { reviewVersion } from '../../src/api/review-versions.js';

test.each([
  [['v1beta1', 'v1'], 'v1beta1'],
  [['v9', 'v1'], 'v1'],
  [['v9'], undefined],
  [[], undefined],
  [null, undefined],
  [undefined, undefined],
])('among the review versions %j the chosen one is %s', (accepted, expected) => {
  expect(reviewVersion(accepted)).toBe(expected);
});
