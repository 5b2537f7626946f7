import { expect, test } from 'vitest';
import { parseAddress, parsePrefix } from '../../src/api/go-ip.js';

test.each([
  ['1.2.3.4', '01020304'],
  ['::', '0'.repeat(32)],
  ['::1', `${'0'.repeat(31)}1`],
  ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
  ['1::8', `0001${'0'.repeat(24)}0008`],
  ['1:2:3:4:5:6::', '00010002000300040005000600000000'],
  ['::ffff:1.2.3.4', '00000000000000000000ffff01020304'],
  ['64:ff9b::1.2.3.4', '0064ff9b000000000000000001020304'],
  ['FE80::ABCD%eth0', 'fe80000000000000000000000000abcd'],
])('the address %s has the bytes %s', (text, bytes) => {
  const address = parseAddress(text);
  expect('bytes' in address && address.bytes.toString('hex')).toBe(bytes);
  expect('zone' in address && address.zone).toBe(text.split('%')[1] ?? '');
});

test.each([
  ['', 'unable to parse IP'],
  ['x', 'unable to parse IP'],
  ['%eth0', 'missing IPv6 address'],
  ['::1%', 'zone must be a non-empty string'],
  ['1.2.3', 'IPv4 address too short'],
  ['1.2.3.4.5', 'IPv4 address too long'],
  ['1.2.3.256', 'IPv4 field has value >255'],
  ['1.02.3.4', 'IPv4 field has octet with leading zero'],
  ['1..3.4', 'IPv4 field must have at least one digit (at ".3.4")'],
  ['1.2.3.', 'IPv4 field must have at least one digit (at ".")'],
  ['1.2.3.x', 'unexpected character (at "x")'],
  ['12345::', 'each group must have 4 or less digits (at "12345::")'],
  [':1::', 'each colon-separated field must have at least one digit (at ":1::")'],
  ['1:2:3:4:5:6:7', 'address string too short'],
  ['1:2:3:4:5:6:7:8:9', 'trailing garbage after address (at "9")'],
  ['1:2:3:4:5:6:7::8', 'the :: must expand to at least one field of zeros'],
  ['1::2::3', 'multiple :: in address (at ":3")'],
  ['1:', 'colon must be followed by more characters (at ":")'],
  ['1:g', 'each colon-separated field must have at least one digit (at "g")'],
  ['1:2g', 'unexpected character, want colon (at "g")'],
  ['1:1.2.3.4', 'embedded IPv4 address must replace the final 2 fields of the address (at "1.2.3.4")'],
  ['::1:2:3:4:5:6:7:1.2.3.4', 'too many hex fields to fit an embedded IPv4 at the end of the address (at "1.2.3.4")'],
])('%j is not an address: %s', (text, problem) => {
  expect(parseAddress(text)).toEqual({ wrong: `ParseAddr("${text}"): ${problem}` });
});

test.each([
  ['10.1.2.3/8', '0a010203/8'],
  ['::/0', `${'0'.repeat(32)}/0`],
  ['::1/128', `${'0'.repeat(31)}1/128`],
])('the prefix %s is %s', (text, expected) => {
  const prefix = parsePrefix(text);
  expect('bytes' in prefix && `${prefix.bytes.toString('hex')}/${prefix.bits}`).toBe(expected);
});

test.each([
  ['10.0.0.0', "no '/'"],
  ['x/8', 'ParseAddr("x"): unable to parse IP'],
  ['::1%eth0/8', 'IPv6 zones cannot be present in a prefix'],
  ['10.0.0.0/', 'bad bits after slash: ""'],
  ['10.0.0.0/08', 'bad bits after slash: "08"'],
  ['10.0.0.0/+8', 'bad bits after slash: "+8"'],
  ['10.0.0.0/33', 'prefix length out of range'],
  ['::/129', 'prefix length out of range'],
  ['::/99999999999999999999', 'bad bits after slash: "99999999999999999999"'],
])('%s is not a prefix: %s', (text, problem) => {
  expect(parsePrefix(text)).toEqual({ wrong: `netip.ParsePrefix("${text}"): ${problem}` });
});
