import { expect, test } from 'vitest';
import { CostExceeded, Frame } from '../../../src/cel/evaluation/frame.js';

test('what may be spent is charged, and no more', () => {
  const frame = new Frame(() => undefined, 3, 0);
  frame.charge(3);
  expect(() => frame.charge(1)).toThrow(CostExceeded);
  expect(frame.cost).toBe(4);
});

test('a cost that is no number is above every limit', () => {
  const frame = new Frame(() => undefined, 3, 0);
  expect(() => frame.charge(Number.NaN)).toThrow(CostExceeded);
  expect(frame.cost).toBe(Number.POSITIVE_INFINITY);
});
