import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  goDuration,
  goInt64,
  goJson,
  goJsonInSteps,
  goLowerCase,
  goNumber,
  quote,
  quoteBytes,
} from '../../src/api/go-text.js';
import type { Json } from '../../src/api/object.js';
import { runSync } from '../../src/api/steps.js';
import { countSteps } from '../count-steps.js';
import { expectShort } from '../processor-time.js';

test.each([
  ['', '""'],
  ['plain text!', '"plain text!"'],
  ['a "b" \\', '"a \\"b\\" \\\\"'],
  ['\x07\b\f\n\r\t\v\x00\x1b', '"\\a\\b\\f\\n\\r\\t\\v\\x00\\x1b"'],
  ['é ﷺ \u{1f600}', '"é ﷺ \u{1f600}"'],
  ['\u00a0\u202e\u2028\ufeff', '"\\u00a0\\u202e\\u2028\\ufeff"'],
  ['\ud800', '"\\ud800"'],
  ['a\udce4\udc80', '"a\\xe4\\x80"'],
  ['\u{e0001}', '"\\U000e0001"'],
  ['\x7f\x80', '"\\x7f\\u0080"'],
])('%j is quoted as Go quotes it', (text, quoted) => {
  expect(quote(text)).toBe(quoted);
});

test.each([
  ['plain "text"', [], '"plain \\"text\\""'],
  ['é', [0xff, 0x41], '"é\\xffA"'],
  ['\n\ufffd', [0xe2, 0x82], '"\\n\ufffd\\xe2\\x82"'],
])('%j and the bytes %j are quoted as Go quotes them', (text, more, quoted) => {
  expect(quoteBytes(Buffer.concat([Buffer.from(text), Buffer.from(more)]))).toBe(quoted);
});

test('megabytes are quoted quickly', async () => {
  const text = '-.'.repeat(500_000);
  await expectShort(100, () => quote(text));
});

test.each<[number | bigint, string]>([
  [100_000, '100000'],
  [1_000_000, '1000000'],
  [9_007_199_254_740_993n, '9007199254740993'],
  [2 ** 63, '9.223372036854776e+18'],
  [1_234_567.5, '1.2345675e+06'],
  [0.0001, '0.0001'],
  [-2.5e-10, '-2.5e-10'],
])('%d is printed as Go prints it', (value, printed) => {
  expect(goNumber(value)).toBe(printed);
});

test.each<[number, bigint]>([
  [1.9, 1n],
  [-1.9, -1n],
  [2 ** 63, -(2n ** 63n)],
])('%d is converted to an int64', (value, whole) => {
  expect(goInt64(value)).toBe(whole);
});

test.each<[number, string]>([
  [0, '0s'],
  [0.0000004, '0s'],
  [0.000001, '1ns'],
  [0.0015, '1.5µs'],
  [0.1, '100µs'],
  [1.234567, '1.234567ms'],
  [999.9999994, '999.999999ms'],
  [600, '600ms'],
  [1_000, '1s'],
  [1_010.000001, '1.010000001s'],
  [60_000, '1m0s'],
  [3_600_250, '1h0m0.25s'],
  [90_061_000, '25h1m1s'],
  [-1.5, '-1.5ms'],
])('%d milliseconds are printed as a duration', (milliseconds, printed) => {
  expect(goDuration(milliseconds)).toBe(printed);
});

test('JSON written in steps equals JSON written at once', () => {
  const same = (value: Json): void => {
    expect(runSync(goJsonInSteps(value))).toBe(goJson(value));
  };
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 7 }), (value) => {
      same(value as Json);
    }),
  );
  same({ a: [1n, { b: '<&>', c: undefined as never }], __proto__: null } as Json);
  const names = Array.from({ length: 5_000 }, (_, n) => `<${n}`);
  const many = Object.fromEntries(names.map((name) => [name, name]));
  for (const value of [names, many, { a: { b: [many, { c: names }] } }]) {
    same(value);
    expect(countSteps(goJsonInSteps(value)).pauses).toBeGreaterThan(2);
  }
});

test('toJSON of values is respected, also beside a number beyond double precision', () => {
  const given = {
    when: new Date(0),
    own: { toJSON: () => ({ n: 1n, none: undefined }) },
    large: 9_007_199_254_740_993n,
  };
  expect(goJson(given)).toBe('{"when":"1970-01-01T00:00:00.000Z","own":{"n":1},"large":9007199254740993}');
});

test('letters are converted to lower case as in Go', () => {
  expect(['A\u0130/X', '\u212a', 'Ä', 'A\u03a3'].map(goLowerCase)).toEqual(['ai/x', 'k', 'ä', 'a\u03c3']);
});
