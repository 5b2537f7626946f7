import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAuthorityKeyPair, loadCertificateAuthority } from '../../../src/pki/certificate-authority.js';
import type { KeyType } from '../../../src/pki/key-pair.js';
import { caSigner } from '../../../src/pki/signers/ca-signer.js';
import { openPkcs11Key, type Pkcs11Key } from '../../../src/pki/signers/pkcs11-key.js';
import { signerContract } from '../../../src/testing/signer-contract.js';
import { softHsm, softToken } from './soft-token.js';

const types = ['P-256', 'P-384', 'RSA-2048'] as const satisfies readonly KeyType[];
type Type = (typeof types)[number];

describe.skipIf(softHsm === undefined)('a CA whose key is in a token', async () => {
  const library = softHsm ?? '';
  const pairs = new Map(
    await Promise.all(
      types.map(
        async (keyType) =>
          [keyType, await createAuthorityKeyPair({ commonName: `token ${keyType}`, keyType })] as const,
      ),
    ),
  );
  const other = await createAuthorityKeyPair({ commonName: 'other' });
  const certificateOf = (keyType: Type): string => pairs.get(keyType)?.certificate ?? '';
  let token: ReturnType<typeof softToken>;
  let opened: Pkcs11Key | undefined;
  const open = async (keyType: Type, more: object = {}): Promise<Pkcs11Key> => {
    opened?.close();
    opened = undefined;
    opened = await openPkcs11Key({ ...token, library, key: keyType, certificate: certificateOf(keyType), ...more });
    return opened;
  };
  beforeAll(() => {
    token = softToken({ ...Object.fromEntries(pairs), 'other P-256': other });
  });
  afterAll(() => {
    opened?.close();
    token.remove();
  });

  for (const keyType of types) {
    const make = async () => {
      const ca = loadCertificateAuthority({ certificate: certificateOf(keyType), key: await open(keyType) });
      return {
        signer: caSigner({ serves: 'example.test/token', authority: () => ca, maxSeconds: 86_400 }),
        signerName: 'example.test/token',
        issues: { usages: ['digital signature', 'client auth'] },
        maxSeconds: 86_400,
      };
    };
    test.each(signerContract(make).map((one) => [one.name, one] as const))(`${keyType}: %s`, (_, one) => one.run());
  }

  test('signs many at once', async () => {
    const key = await open('P-256');
    const signatures = await Promise.all(Array.from({ length: 50 }, (_, at) => key.sign(Buffer.from(`${at}`))));
    expect(new Set(signatures.map((one) => one.toString('hex'))).size).toBe(50);
  });

  test('shares its token with other keys, each usable until it is closed', async () => {
    const first = await open('P-256');
    const second = await openPkcs11Key({ ...token, library, key: 'P-384', certificate: certificateOf('P-384') });
    const ca = loadCertificateAuthority({ certificate: certificateOf('P-256'), key: first });
    await Promise.all([second.sign(Buffer.from('x')), ca.issueClient({ commonName: 'x', seconds: 600 })]);
    second.close();
    await first.sign(Buffer.from('x'));
  });

  test('reopens a broken session', async () => {
    const key = await open('P-256');
    token.closeSessions(library);
    await expect(key.sign(Buffer.from('x'))).rejects.toThrow('cannot be used: CKR_SESSION_HANDLE_INVALID');
    await key.sign(Buffer.from('x'));
  });

  test.each([
    ['a wrong pin', { pin: '9999' }, 'the token "kedge" cannot be used: CKR_PIN_INCORRECT'],
    ['a wrong token', { token: 'x' }, 'no token "x"'],
    ['a wrong key', { key: 'x' }, 'the token has no private key "x"'],
    ['the key of another certificate', { key: 'other P-256' }, 'the key "other P-256" is not that of the certificate'],
    ['a wrong library', { library: '/nowhere.so' }, 'cannot load the PKCS#11 library /nowhere.so'],
  ])('fails with a clear message: %s', async (_, more, message) => {
    await expect(open('P-256', more)).rejects.toThrow(message);
    await open('P-256');
  });
});

test('without the package or the library, the error tells what is missing', async () => {
  const { certificate } = await createAuthorityKeyPair({ commonName: 'x' });
  const opening = openPkcs11Key({ library: '', token: '', pin: '', key: '', certificate });
  await expect(opening).rejects.toThrow(/npm install pkcs11js|cannot load/);
});
