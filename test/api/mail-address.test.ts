import { expect, test } from 'vitest';
import { isMailAddress } from '../../src/api/mail-address.js';
import { expectShort } from '../processor-time.js';

/** Addresses, with the results of Go's mail.ParseAddress. */
const addresses: readonly string[] = [
  'a@b',
  'A.B <a@b.c>',
  '"x y"@b',
  'a@[1.2.3.4]',
  'a@[::1]',
  'a@b (c)',
  '<a@b>',
  ' a@b',
  'a@b ',
  'a@-b',
  'a@b_c',
  'group: a@b;',
  "o'x@b",
  'a+b@c',
  'x..y <a@b>',
  '"a\\"b" c <d@e>',
  'x (a (b) c) y <a@b> (d)',
  'a@b (\\))',
  '=?utf-8?q?a?= <a@b>',
];
const others: readonly string[] = [
  'group: (c) a@b (d) ;',
  '',
  'a',
  '@b',
  'a@',
  'a b@c',
  'a@b,c@d',
  'a@b.',
  'a.@b',
  '.a@b',
  'a..b@c',
  '(c)a@b',
  'a@b>',
  '""@b',
  'x <a@b> y',
  '"a@b',
  'a@"b"',
  '"a"b@c',
  'x, y <a@b>',
  'a@b\\c',
  'a@[1.2.3]',
  'group: ;',
  'group: a@b, c@d;',
  'group: other: a@b;;',
  'a@b (c',
  '<a@b',
  '=?x?q?a?= <a@b>',
];

test.each(addresses)('%j is an address', (text) => expect(isMailAddress(text)).toBe(true));
test.each(others)('%j is not an address', (text) => expect(isMailAddress(text)).toBe(false));

test('long texts are checked quickly', async () => {
  for (const text of ['('.repeat(100_000), 'a.'.repeat(100_000), '"'.repeat(100_000), 'a '.repeat(100_000)]) {
    await expectShort(200, () => isMailAddress(text));
  }
});
