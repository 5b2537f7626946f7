import fc from 'fast-check';
import { expect, test } from 'vitest';
import { utf8Text } from '../../src/api/utf8-text.js';
import { expectShort } from '../processor-time.js';

test.each([
  [[0x61, 0xe9, 0x62], 'a\udce9b'],
  [[0xc3, 0xa4, 0xe4], '\u00e4\udce4'],
  [[0xe4, 0xc3, 0xa4], '\udce4\u00e4'],
  [[0xf0, 0x9f, 0x98, 0x80, 0xf0, 0x9f], '\u{1f600}\udcf0\udc9f'],
  [[0xed, 0xa0, 0x80], '\udced\udca0\udc80'],
  [[0xc0, 0x80], '\udcc0\udc80'],
])('the bytes %j are decoded to %j', (bytes, text) => {
  expect(utf8Text(Buffer.from(bytes))).toBe(text);
});

test('different bytes give different texts, and valid UTF-8 gives its text', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 8 }),
      fc.uint8Array({ maxLength: 8 }),
      fc.string({ unit: 'grapheme' }),
      (a, b, text) => {
        const same = Buffer.compare(a, b) === 0;
        expect(utf8Text(Buffer.from(a)) === utf8Text(Buffer.from(b))).toBe(same);
        expect(utf8Text(Buffer.from(text))).toBe(text);
      },
    ),
  );
});

test('bytes that are not UTF-8 are decoded quickly', async () => {
  for (const byte of [0xe4, 0xf0]) await expectShort(3_000, () => utf8Text(Buffer.alloc(1_000_000, byte)));
});
