import { expect, test } from 'vitest';
import { readExtensionValues } from '../../src/pki/certificate-extensions.js';

test('a name constraint that is no ASCII is told byte by byte where it is no text', () => {
  const base = Buffer.concat([Buffer.from([0x82, 4]), Buffer.from('é'), Buffer.from([0xff, 0x61])]);
  const subtree = Buffer.concat([Buffer.from([0x30, base.length]), base]);
  const permitted = Buffer.concat([Buffer.from([0xa0, subtree.length]), subtree]);
  const value = Buffer.concat([Buffer.from([0x30, permitted.length]), permitted]);
  expect(() => readExtensionValues([{ oid: '2.5.29.30', critical: true, value }])).toThrow(
    'invalid constraint value: x509: "é\\xffa" cannot be encoded as an IA5String',
  );
});
