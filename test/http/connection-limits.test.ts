import { expect, test } from 'vitest';
import { maxConnections } from '../../src/http/connection-limits.js';

test.each<[number, number | undefined, number | undefined]>([
  [10_000, undefined, 10_000],
  [0, undefined, undefined],
  [10_000, 1_048_576, 10_000],
  [10_000, 4_096, 3_072],
  [0, 4_096, 3_072],
  [10_000, 200, 72],
  [50, 200, 50],
  [10_000, 100, 1],
])('of %d wanted connections, with %s open files: %s', (wanted, openFiles, most) => {
  expect(maxConnections(wanted, openFiles)).toBe(most);
});
