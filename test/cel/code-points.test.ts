import { expect, test } from 'vitest';
import { codePoints } from '../../src/cel/code-points.js';
import { EffortExceeded, spend, withEffort } from '../../src/cel/effort.js';

test.each([
  ['an empty text', '', 0],
  ['letters', 'abc', 3],
  ['surrogate pairs', 'a😀b😀', 4],
  ['lone surrogates, which count as one each', '\ud83d\ude00\ude00\ud83d', 3],
  ['a lone surrogate before a pair', '\ud83d\ud83d\ude00', 2],
  ['combining marks', 'e\u0301', 2],
])('%s: counted in code points', (_, text, size) => {
  expect(codePoints(text)).toBe(size);
  // Long texts are counted in another way than short ones, and only once.
  expect(codePoints(text.repeat(1000))).toBe([...text.repeat(1000)].length);
  expect(codePoints(text.repeat(1000))).toBe([...text.repeat(1000)].length);
});

test('effort beyond its limit throws, and a nested limit is independent', () => {
  const run = (): string =>
    withEffort(10, () => {
      spend(6);
      withEffort(100, () => spend(99));
      spend(4);
      return 'done';
    });
  expect(run()).toBe('done');
  expect(() => withEffort(10, () => spend(11))).toThrow(EffortExceeded);
  expect(() => spend(1_000_000)).not.toThrow();
});
