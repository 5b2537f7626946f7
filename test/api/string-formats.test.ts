import { describe, expect, test } from 'vitest';
import { isKnownFormat, stringFormat } from '../../src/api/string-formats.js';
import { expectShort } from '../processor-time.js';

const table: Readonly<Record<string, { readonly good: readonly string[]; readonly bad: readonly string[] }>> = {
  uri: {
    good: ['http://a.example/b?c', '/absolute', '*', 'urn:a:b', 'http://[::1]:80/', 'http://u:p@h/', 'http://a]/'],
    bad: [
      '',
      'relative',
      'http://a b/',
      '%zz',
      '/%zz',
      'http://h:x/',
      'a\nb',
      '#a',
      '1:2',
      'http://[zz]/',
      'http://::1/',
      'http://a:1:2/',
      'http://a%41/',
    ],
  },
  email: {
    good: [
      ...['a@b', 'a.b+c@example.com', 'A B <a@b.c>', '"a b"@c', '<a@b>', 'a@b (hi)', 'a@[127.0.0.1]', 'a@ b', ' a@b '],
      ...[
        'x: a@b;',
        'x: Y <a@b> (c) ; (d)',
        '"a \\" b" c (d (e)) f <a@b>',
        '=?utf-8?q?a=20b?= <a@b>',
        'ä@ö',
        '"=?x?q?a?=" <a@b>',
      ],
    ],
    bad: [
      ...[
        '',
        'a',
        '@b',
        'a@',
        'a b@c',
        'a@b@c',
        'a@b, c@d',
        'A B a@b',
        'a..b@c',
        '.a@b',
        'a.@b',
        'a @b',
        'a\t@b',
        '(x)a@b',
      ],
      ...[
        'a(b)c@d',
        'a@(c)b',
        '""@b',
        '"a\u0001"@b',
        '"a@b',
        'a@b (',
        'a@b (c',
        'X <a@b',
        'X <a@b >',
        'a@[]',
        'a@[1.2.3]',
      ],
      ...[
        'a@[hello]',
        'a@[::1',
        'a@[fe80::1%e]',
        'x:;',
        'x: a@b, c@d;',
        'x: a@b',
        'x: y: a@b;;',
        '=?koi8-r?q?a?= <a@b>',
      ],
    ],
  },
  hostname: { good: ['a', 'a.example', 'xn--a.com', '1a'], bad: ['', '-a', 'a_b', 'a..b', `${'a'.repeat(64)}.com`] },
  ipv4: {
    good: ['1.2.3.4', '01.002.3.4', '::ffff:1.2.03.4', '00001::1.2.3.4'],
    bad: ['1.2.3', '256.1.1.1', '::1', 'a.b.c.d', '', '::ffff:1.2.3.4%eth0', '1.2.3.4::'],
  },
  ipv6: { good: ['::1', 'fe80::1', '::ffff:1.2.3.4'], bad: ['1.2.3.4', ':::', 'fe80::1%eth0', ''] },
  cidr: {
    good: ['1.2.3.4/32', '10.0.0.0/08', '::/0', '00001::/8'],
    bad: ['1.2.3.4', '::1%a/8', '1.2.3.4/33', '::/129', '1.2.3.4/-1', ''],
  },
  mac: {
    good: ['01:23:45:67:89:ab', '01-23-45-67-89-AB', '0123.4567.89ab', '0123456789ab'],
    bad: ['01:23', '0123456789', '0123456789abc', '01:23-45:67:89:ab', '01:23:45:67:89:gg', ''],
  },
  uuid: { good: ['123e4567-e89b-12d3-a456-426614174000', '123E4567E89B12D3A456426614174000'], bad: ['123e4567', ''] },
  isbn: { good: ['0-321-75104-3', '978-0321751041', '097522980X'], bad: ['0321751040', '9780321751042', ''] },
  creditcard: { good: ['4111 1111 1111 1111'], bad: ['4111111111111112', '1', ''] },
  ssn: { good: ['111-22-3333', '111 22 3333'], bad: ['111223333', ''] },
  hexcolor: { good: ['#fff', 'ABCDEF'], bad: ['#ffff', 'red', ''] },
  rgbcolor: { good: ['rgb(1,2,3)', 'rgb( 255 , 0,0)'], bad: ['rgb(256,0,0)', 'rgb(1,2)', ''] },
  byte: { good: ['YQ==', 'YWJj'], bad: ['', 'YQ', 'Y===', 'YW\nJj', 'YW-_'] },
  password: { good: ['', 'anything'], bad: [] },
  date: { good: ['2024-02-29'], bad: ['2023-02-29', '2024-13-01', '2024-00-10', '2024-1-1', ''] },
  'date-time': {
    good: ['2024-02-29T23:59:59Z', '2024-02-29t00:00:00.123z', '2024-01-01T00:00:00+23:59'],
    bad: [
      '2024-02-29',
      '2024-02-30T00:00:00Z',
      '2024-01-01T24:00:00Z',
      '2024-01-01T00:00:60Z',
      '2024-01-01T00:00:00',
      '',
    ],
  },
  duration: {
    good: ['1h2m', '-1.5s', '0', '1d', '2 weeks', '3 hours', '1µs'],
    bad: ['', '5', 'x', '1 fortnight', '99999999999999999999h', '9223372036854775808ns', '1h99999999999999999999s'],
  },
  bsonobjectid: { good: ['507f1f77bcf86cd799439011'], bad: ['507f', 'zzzf1f77bcf86cd799439011', ''] },
  'k8s-short-name': { good: ['a', 'a-1'], bad: ['', 'A', 'a.b', '-a', 'a'.repeat(64)] },
  'k8s-long-name': { good: ['a.b', 'a'.repeat(100)], bad: ['', 'a..b', 'A.b', 'a'.repeat(254)] },
};

describe.each(Object.entries(table))('%s', (format, { good, bad }) => {
  const test_ = stringFormat(format);
  test.each(good)('accepts %j', (text) => expect(test_?.(text)).toBe(true));
  test.each(bad)('refuses %j', (text) => expect(test_?.(text)).toBe(false));
});

test('formats are known per type', () => {
  expect([
    isKnownFormat('', 'u-u-i-d'),
    isKnownFormat('string', 'shoe'),
    isKnownFormat('string', 'constructor'),
  ]).toEqual([true, false, false]);
  expect([
    isKnownFormat('integer', 'int32'),
    isKnownFormat('number', 'int32'),
    isKnownFormat('object', 'date'),
  ]).toEqual([true, false, false]);
});

test('long texts are checked quickly', async () => {
  const texts = ['a', '1', 'a@', '"', '(', '/', ' ', '1.', 'a.', '%41'].map((text) => text.repeat(50_000));
  for (const format of Object.keys(table)) {
    await expectShort(1_000, () => texts.forEach((text) => void stringFormat(format)?.(text)));
  }
});
