import { expect, test } from 'vitest';
import { readExtensionValues } from '../../src/pki/certificate-extensions.js';
import { constructed, context } from '../../src/pki/der.js';
import { encode, sequence } from '../../src/pki/der-writer.js';

test('a name constraint that is no ASCII is told byte by byte where it is no text', () => {
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
