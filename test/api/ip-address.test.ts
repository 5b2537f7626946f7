import { isIPv6 } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ipBytes, ipText } from '../../src/api/ip-address.js';

test.each([
  ['10.0.0.1', '0a000001', '10.0.0.1'],
  ['::', '00000000000000000000000000000000', '::'],
  ['::1', '00000000000000000000000000000001', '::1'],
  ['fe80::1:0:0:2', 'fe800000000000000001000000000002', 'fe80::1:0:0:2'],
  ['2001:db8:0:1:1:1:1:1', '20010db8000000010001000100010001', '2001:db8:0:1:1:1:1:1'],
  ['1:0:0:2::', '00010000000000020000000000000000', '1:0:0:2::'],
  ['::ffff:10.0.0.1', '0a000001', '10.0.0.1'],
  ['64:ff9b::10.0.0.1', '0064ff9b00000000000000000a000001', '64:ff9b::a00:1'],
])('%s is parsed and printed in canonical form', (text, hex, canonical) => {
  expect(ipBytes(text)?.toString('hex')).toBe(hex);
  expect(ipText(Buffer.from(hex, 'hex'))).toBe(canonical);
});

test.each(['', '10.0.0', '10.0.0.256', 'fe80::1%eth0', ':::', 'a.b'])('%j is not an address', (text) => {
  expect(ipBytes(text)).toBeUndefined();
});

test('any IPv6 address that is printed parses to the same bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
      const text = ipText(Buffer.from(bytes));
      fc.pre(isIPv6(text));
      expect(ipBytes(text)).toEqual(Buffer.from(bytes));
    }),
  );
});
