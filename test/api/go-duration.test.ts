import { expect, test } from 'vitest';
import { parseDuration } from '../../src/api/go-duration.js';

test.each([
  ['0', 0],
  ['-0', 0],
  ['5s', 5_000],
  ['1m30s', 90_000],
  ['1.5h', 5_400_000],
  ['.5s', 500],
  ['5.s', 5_000],
  ['-250ms', -250],
  ['+2us', 0.002],
  ['3\u00b5s', 0.003],
  ['3\u03bcs', 0.003],
  ['1h1h', 7_200_000],
  ['0.123456789123456789123s', 123.456789],
])('the duration %s is parsed', (text, milliseconds) => {
  expect(parseDuration(text)).toEqual({
    milliseconds: milliseconds === 0 ? expect.closeTo(0) : milliseconds,
    nanoseconds: BigInt(Math.round(milliseconds * 1e6)),
  });
});

test('digits are read up to the longest duration', () => {
  expect(parseDuration('9223372036854775807ns')).toMatchObject({ nanoseconds: 2n ** 63n - 1n });
  expect(parseDuration('09223372036854775808ns')).toHaveProperty('wrong');
  expect(parseDuration('10000000000000000000ns')).toHaveProperty('wrong');
});

test.each([
  ['', 'time: invalid duration ""'],
  ['s', 'time: invalid duration "s"'],
  ['.s', 'time: invalid duration ".s"'],
  ['-', 'time: invalid duration "-"'],
  ['5', 'time: missing unit in duration "5"'],
  ['1m5', 'time: missing unit in duration "1m5"'],
  ['5x', 'time: unknown unit "x" in duration "5x"'],
  ['5 s', 'time: unknown unit " s" in duration "5 s"'],
  ['5constructor', 'time: unknown unit "constructor" in duration "5constructor"'],
  ['a"\\\n\u00e4', 'time: invalid duration "a\\"\\\\\\x0a\\xc3\\xa4"'],
  ['9223372037s', 'time: invalid duration "9223372037s"'],
  [`${'9'.repeat(40)}ns`, `time: invalid duration "${'9'.repeat(40)}ns"`],
])('%s is not a duration', (text, wrong) => {
  expect(parseDuration(text)).toEqual({ wrong });
});
