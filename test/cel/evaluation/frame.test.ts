import { expect, test } from 'vitest';
import { CostExceeded, Frame } from '../../../src/cel/evaluation/frame.js';

test('charging up to the limit is allowed, and beyond it throws', () => {
  const frame = new Frame(() => undefined, 3, 0);
  frame.charge(3);
  expect(() => frame.charge(1)).toThrow(CostExceeded);
  expect(frame.cost).toBe(4);
});

test('a cost of NaN exceeds any limit', () => {
  const frame = new Frame(() => undefined, 3, 0);
  expect(() => frame.charge(Number.NaN)).toThrow(CostExceeded);
  expect(frame.cost).toBe(Number.POSITIVE_INFINITY);
});
