import { createPublicKey } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readPemCertificates } from '../../src/pki/certificate.js';
import { createAuthorityKeyPair, loadCertificateAuthority } from '../../src/pki/certificate-authority.js';
import { readCertificateRequest } from '../../src/pki/certificate-request.js';
import { constructed } from '../../src/pki/der.js';
import { encode, encodeBits, octetString, sequence, unsignedInteger } from '../../src/pki/der-writer.js';
import { generateKey, readPrivateKey } from '../../src/pki/key-pair.js';
import { type MlDsa, type MlDsaParameters, mlDsaParameterSets } from '../../src/pki/ml-dsa.js';
import { encodePem } from '../../src/pki/pem.js';
import { createCertificateRequest } from '../../src/pki/request-writer.js';
import { verifySignature } from '../../src/pki/signature.js';

const sets: readonly MlDsa[] = mlDsaParameterSets.map(({ name }) => name);
const isThere = await generateKey('ML-DSA-44').then(
  () => true,
  () => false,
);
if (!isThere) console.warn(`Node.js ${process.version} has no ML-DSA: only that it is refused is tried`);
const spkiOf = ({ identifier, keyBytes }: MlDsaParameters): Buffer =>
  sequence(identifier, encodeBits(Buffer.alloc(keyBytes)));
/** From OpenSSL 3.5 on, public keys can be read, whether or not Node.js can generate keys. */
const isRead = (facts: MlDsaParameters): boolean => {
  try {
    createPublicKey({ key: spkiOf(facts), format: 'der', type: 'spki' });
    return true;
  } catch {
    return false;
  }
};

const only = (pem: string) => {
  const [certificate] = readPemCertificates(pem);
  if (certificate === undefined) throw new Error('no certificate');
  return certificate;
};

describe.skipIf(!isThere).each(sets)('%s, where Node.js supports it', (keyType) => {
  test('is a key type of requests and CAs', async () => {
    const pair = await createAuthorityKeyPair({ commonName: 'root', keyType });
    const ca = loadCertificateAuthority(pair);
    const key = await generateKey(keyType);
    const pem = await createCertificateRequest({ subject: { commonName: 'x' }, key });
    const issued = only(await ca.issue(pem, { seconds: 600, usages: ['client auth'] }));
    expect(issued.publicKey.kind).toBe(keyType);
    expect(issued.publicKey.spki).toEqual(createPublicKey(key).export({ type: 'spki', format: 'der' }));
    const { signatureAlgorithm: algorithm, toBeSigned: data, signature } = issued;
    verifySignature({ algorithm, data, signature }, ca.certificate.publicKey);
    const [first = 0, ...rest] = signature;
    const broken = { algorithm, data, signature: Buffer.from([first ^ 1, ...rest]) };
    expect(() => verifySignature(broken, ca.certificate.publicKey)).toThrow('x509: ML-DSA verification failure');
    const middle = loadCertificateAuthority(await ca.issueAuthority({ commonName: 'middle', keyType }));
    await expect(middle.issue(pem, { seconds: 600, usages: ['client auth'] })).resolves.toContain('BEGIN');
  });
});

describe.skipIf(isThere).each(mlDsaParameterSets)('$name, where Node.js does not support it', (facts) => {
  const { name, identifier } = facts;
  const missing = `${name} needs Node.js 24.6 or later, and this is ${process.version}`;

  test('keys can be neither generated nor read', async () => {
    await expect(generateKey(name)).rejects.toThrow(missing);
    const seed = Buffer.concat([Buffer.from([0x80, 32]), Buffer.alloc(32)]);
    const key = sequence(unsignedInteger(Buffer.from([0])), identifier, octetString(seed));
    expect(() => readPrivateKey(encodePem('PRIVATE KEY', key))).toThrow(missing);
  });

  test.skipIf(isRead(facts))('requests are refused for an unknown algorithm', () => {
    const body = sequence(unsignedInteger(Buffer.from([0])), sequence(), spkiOf(facts), encode(constructed(0)));
    const pem = encodePem('CERTIFICATE REQUEST', sequence(body, identifier, encodeBits(Buffer.alloc(8))));
    expect(() => readCertificateRequest(pem)).toThrow('x509: cannot verify signature: algorithm unimplemented');
  });
});
