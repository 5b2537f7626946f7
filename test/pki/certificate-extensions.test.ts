import { expect, test } from 'vitest';
import { readExtensionValues } from '../../src/pki/certificate-extensions.js';
import { constructed, context } from '../../src/pki/der.js';
import { encode, sequence } from '../../src/pki/der-writer.js';

test('a name constraint that is not ASCII is quoted with escapes where it is not UTF-8', () => {
  const base = Buffer.concat([Buffer.from([0x82, 4]), Buffer.from('é'), Buffer.from([0xff, 0x61])]);
  const subtree = Buffer.concat([Buffer.from([0x30, base.length]), base]);
  const permitted = Buffer.concat([Buffer.from([0xa0, subtree.length]), subtree]);
  const value = Buffer.concat([Buffer.from([0x30, permitted.length]), permitted]);
  expect(() => readExtensionValues([{ oid: '2.5.29.30', critical: true, value }])).toThrow(
    'invalid constraint value: x509: "é\\xffa" cannot be encoded as an IA5String',
  );
});

const ofMailbox = (text: string): void => {
  const base = encode(context(1), Buffer.from(text, 'latin1'));
  const value = sequence(encode(constructed(0), sequence(base)));
  readExtensionValues([{ oid: '2.5.29.30', critical: true, value }]);
};

test.each(['a@', 'a@b', 'a.b@c.d', 'a\\ b@c', 'a\\@b@c', 'a\\\n@b', '"a b"@c', '""@', '"\x01\v\x7f"@b', '"\\\t\\""@b'])(
  'a name constraint may be the mailbox %j',
  (text) => {
    expect(() => ofMailbox(text)).not.toThrow();
  },
);

test.each([
  '@b',
  '.a@b',
  'a..b@c',
  'a\\.@b',
  'a b@c',
  'a@b.',
  'a@.b',
  'a@b c',
  'a\\@b',
  '"\t"@b',
  '"\\\n"@b',
  '"a@b',
  '"a"b@c',
])('a name constraint may not be the mailbox %j', (text) => {
  expect(() => ofMailbox(text)).toThrow('x509: failed to parse rfc822Name constraint');
});

const oid = Buffer.from('06022a03', 'hex');
const ofAddress = (hex: string): Buffer =>
  sequence(encode(constructed(0), sequence(encode(context(7), Buffer.from(hex, 'hex')))));
const policies = '2.5.29.32';
const mappings = '2.5.29.33';
const access = '1.3.6.1.5.5.7.1.1';
const constraints = '2.5.29.30';

test.each<[string, string, Buffer]>([
  ['policies', policies, sequence(sequence(oid))],
  ['policy mappings', mappings, sequence(sequence(oid, oid))],
  ['IPv4 constraints', constraints, ofAddress('0a000000ff000000')],
  ['IPv6 constraints', constraints, ofAddress(`${'20'.repeat(16)}${'ff'.repeat(4)}${'00'.repeat(12)}`)],
])('critical %s are understood', (_, oid, value) => {
  expect(readExtensionValues([{ oid, critical: true, value }]).hasUnhandledCritical).toBe(false);
});

test('an unknown extension is unhandled if critical', () => {
  const unknown = { oid: '1.2.3', value: sequence() };
  expect(readExtensionValues([{ ...unknown, critical: true }]).hasUnhandledCritical).toBe(true);
  expect(readExtensionValues([{ ...unknown, critical: false }]).hasUnhandledCritical).toBe(false);
});

test.each<[string, Buffer, string]>([
  [policies, sequence(oid), 'x509: invalid certificate policies'],
  [policies, sequence(sequence(oid), sequence(oid)), 'x509: invalid certificate policies'],
  [policies, oid, 'x509: invalid certificate policies'],
  [mappings, sequence(sequence(oid)), 'x509: invalid policy mappings extension'],
  [mappings, oid, 'x509: invalid policy mappings extension'],
  [access, oid, 'x509: invalid authority info access'],
  [access, sequence(sequence()), 'x509: invalid authority info access'],
  [constraints, ofAddress('0a0000ff000000'), 'IP constraint contained value of length 7'],
  [constraints, ofAddress('0a000000ff00ff00'), 'IP constraint contained invalid mask ff00ff00'],
])('a malformed extension %s is refused, critical or not', (oid, value, message) => {
  expect(() => readExtensionValues([{ oid, critical: false, value }])).toThrow(message);
});

test('authority information access must not be critical', () => {
  const value = sequence(sequence(oid, encode(context(6), Buffer.from('http://a'))));
  expect(() => readExtensionValues([{ oid: access, critical: true, value }])).toThrow(
    'x509: authority info access incorrectly marked critical',
  );
  expect(() => readExtensionValues([{ oid: access, critical: false, value }])).not.toThrow();
});
