import { constants, generateKeyPairSync, sign } from 'node:crypto';
import { expect, test } from 'vitest';
import { readPublicKeyInfo } from '../../src/pki/certificate.js';
import { constructed } from '../../src/pki/der.js';
import { derNull, encode, encodeOid, sequence, unsignedInteger } from '../../src/pki/der-writer.js';
import { verifySignature } from '../../src/pki/signature.js';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const key = readPublicKeyInfo(publicKey.export({ type: 'spki', format: 'der' }));
const data = Buffer.from('data');

const [mgf1, otherMask] = ['1.2.840.113549.1.1.8', '1.2.840.113549.1.1.9'];
const hashes = { sha1: '1.3.14.3.2.26', sha256: '2.16.840.1.101.3.4.2.1', sha384: '2.16.840.1.101.3.4.2.2' } as const;
type Hash = keyof typeof hashes;
const hashOf = (hash: Hash, parameters = derNull): Buffer => sequence(encodeOid(hashes[hash]), parameters);

interface Given {
  readonly hash?: Hash;
  readonly none?: Buffer;
  readonly mask?: string;
  readonly maskHash?: Hash;
  readonly maskNone?: Buffer;
  readonly salt?: number;
  readonly trailer?: readonly Buffer[];
}

/** Returns parameters of RSASSA-PSS (RFC 4055), by default those for SHA-256. */
const parameters = ({
  hash = 'sha256',
  none = derNull,
  mask = mgf1,
  maskHash = hash,
  maskNone = derNull,
  salt = 32,
  trailer = [],
}: Given = {}): Buffer =>
  sequence(
    encode(constructed(0), hashOf(hash, none)),
    encode(constructed(1), sequence(encodeOid(mask), hashOf(maskHash, maskNone))),
    encode(constructed(2), unsignedInteger(Buffer.from([salt]))),
    ...trailer,
  );
const trailer = (value: number): readonly Buffer[] => [encode(constructed(3), unsignedInteger(Buffer.from([value])))];

const verify = (given: Buffer, hash: Hash, saltLength: number): void => {
  const signature = sign(hash, data, { key: privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength });
  verifySignature({ algorithm: { oid: '1.2.840.113549.1.1.10', parameters: given }, data, signature }, key);
};

test.each<[string, Buffer, Hash, number]>([
  ['with the usual parameters', parameters(), 'sha256', 32],
  ['with another hash', parameters({ hash: 'sha384', salt: 48 }), 'sha384', 48],
  ['whose hashes have no parameters', parameters({ none: Buffer.alloc(0), maskNone: Buffer.alloc(0) }), 'sha256', 32],
  ['that names the default trailer', parameters({ trailer: trailer(1) }), 'sha256', 32],
])('a signature with RSASSA-PSS is verified: %s', (_, given, hash, salt) => {
  expect(() => verify(given, hash, salt)).not.toThrow();
});

test.each<[string, Buffer, Hash?, number?]>([
  ['another mask function', parameters({ mask: otherMask })],
  ['a mask function of another hash', parameters({ maskHash: 'sha384' })],
  ['a hash with parameters', parameters({ none: sequence() })],
  ['a hash of the mask function with parameters', parameters({ maskNone: sequence() })],
  ['a salt of another length', parameters({ salt: 20 }), 'sha256', 20],
  ['another trailer', parameters({ trailer: trailer(2) })],
  ['SHA-1', parameters({ hash: 'sha1', salt: 20 }), 'sha1', 20],
  ['no parameters', Buffer.alloc(0)],
])(
  'a signature with RSASSA-PSS and %s is refused, though made with the key',
  (_, given, hash = 'sha256', salt = 32) => {
    expect(() => verify(given, hash, salt)).toThrow('x509: cannot verify signature: algorithm unimplemented');
  },
);
