import { expect, test } from 'vitest';
import { quote } from '../../src/api/go-text.js';

test.each([
  ['', '""'],
  ['plain text!', '"plain text!"'],
  ['a "b" \\', '"a \\"b\\" \\\\"'],
  ['\x07\b\f\n\r\t\v\x00\x1b', '"\\a\\b\\f\\n\\r\\t\\v\\x00\\x1b"'],
  ['é ﷺ \u{1f600}', '"é ﷺ \u{1f600}"'],
  ['\u00a0\u202e\u2028\ufeff', '"\\u00a0\\u202e\\u2028\\ufeff"'],
  ['\ud800', '"\\ud800"'],
  ['\u{e0001}', '"\\U000e0001"'],
  ['\x7f\x80', '"\\x7f\\u0080"'],
])('%j is quoted as Go quotes it', (text, quoted) => {
  expect(quote(text)).toBe(quoted);
});

test('megabytes are quoted in no time', () => {
  const started = performance.now();
  for (let round = 0; round < 10; round++) quote('-.'.repeat(500_000));
  expect(performance.now() - started).toBeLessThan(2_000);
});
