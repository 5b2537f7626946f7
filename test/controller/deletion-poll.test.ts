import { expect, test } from 'vitest';
import { deletionPollMs } from '../../src/controller/deletion-poll.js';

test.each([
  [0, 200],
  [4_000, 1_000],
  [3_600_000, 5_000],
  [-3_600_000, 5_000],
  [Number.NaN, 200],
])('after %i ms of waiting, the next poll follows in %i ms', (waitedMs, expected) => {
  expect(deletionPollMs(waitedMs)).toBe(expected);
});
