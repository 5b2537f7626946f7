import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { expect, test } from 'vitest';
import { defaultDomains } from '../../src/api/domains.js';
import { AuthenticationError } from '../../src/auth/authenticator.js';
import { clientCertificate } from '../../src/auth/client-certificate.js';
import { readCertificate } from '../../src/pki/certificate.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { expectShort } from '../processor-time.js';
import { credentials } from './credentials.js';
import { attributes, extensions, type Forged, forge, usages, type Wanted } from './forge.js';

const { commonName, organization, uid } = attributes;
const day = 86_400_000;
const clock = new FakeClock();
const now = clock.now();

const root = forge({ subject: [[commonName, 'root']], extensions: [extensions.authority()] });
const client = (more: Partial<Wanted> = {}): Forged =>
  forge({
    subject: [
      [commonName, 'alice'],
      [organization, 'dev'],
      [organization, 'ops'],
    ],
    issuer: root,
    extensions: [extensions.extendedKeyUsage(usages.client)],
    ...more,
  });
const authenticate = (chain: readonly Forged[], bundle = root.pem, at = clock) =>
  clientCertificate({ bundle: () => bundle, clock: at, domains: defaultDomains }).authenticate(
    credentials({}, { certificates: chain.map(({ der }) => der) }),
  );

test('the common name is the username, and organizations are the groups', async () => {
  const leaf = client();
  expect(await authenticate([leaf])).toEqual({
    user: {
      username: 'alice',
      groups: ['dev', 'ops'],
      extra: {
        'authentication.kubernetes.io/credential-id': [
          `X509SHA256=${createHash('sha256').update(leaf.der).digest('hex')}`,
        ],
      },
    },
  });
});

test('no certificate or no common name authenticates nobody', async () => {
  expect(await authenticate([])).toBeUndefined();
  expect(await authenticate([client({ subject: [[organization, 'system:masters']] })])).toBeUndefined();
});

test.each([
  [[[uid, 'u-1']], { uid: 'u-1' }],
  [[], {}],
] as const)('the uid attributes %j give %j', async (more, expected) => {
  const found = await authenticate([client({ subject: [[commonName, 'a'], ...more] })]);
  expect(found?.user).toMatchObject({ username: 'a', ...expected });
});

test.each([
  [
    [
      [uid, 'a'],
      [uid, 'b'],
    ],
    'expected 1 UID, but found multiple',
  ],
  [[[uid, '']], 'UID cannot be an empty string'],
] as const)('the uid attributes %j are refused', async (more, message) => {
  await expect(authenticate([client({ subject: [[commonName, 'a'], ...more] })])).rejects.toThrow(message);
});

test('a name with separators cannot inject another attribute', async () => {
  const found = await authenticate([client({ subject: [[commonName, 'a\nO=system:masters,CN=root']] })]);
  expect(found?.user).toMatchObject({ username: 'a\nO=system:masters,CN=root', groups: [] });
});

test('the remaining lifetime of a certificate is reported with every request, even after it expired', async () => {
  const left: number[] = [];
  const at = new FakeClock();
  const authenticator = clientCertificate({
    ...{ bundle: () => root.pem, clock: at, domains: defaultDomains },
    lifetimeLeft: (seconds) => void left.push(seconds),
  });
  const leaf = client();
  const ask = () => authenticator.authenticate(credentials({}, { certificates: [leaf.der] }));
  const { notAfter } = readCertificate(leaf.der);
  await ask();
  await at.advance(1_000);
  await ask();
  await at.advance(notAfter - at.now() + 1_000);
  await expect(ask()).rejects.toThrow('has expired');
  const first = (notAfter - now) / 1_000;
  expect(left).toEqual([first, first - 1, -1]);
});

const stranger = forge({ subject: [[commonName, 'root']], extensions: [extensions.authority()] });
const issuingCa = (more: Partial<Wanted> = {}): Forged =>
  forge({ subject: [[commonName, 'issuing']], issuer: root, extensions: [extensions.authority()], ...more });
const renewed = (more: Partial<Wanted> = {}): Forged =>
  forge({ subject: [[commonName, 'root']], issuer: root, publicKey: createPublicKey(root.key), ...more });
const unknownAuthority = 'x509: certificate signed by unknown authority';

test('intermediates are found among the sent certificates, in any order', async () => {
  const middle = issuingCa();
  const lower = forge({ subject: [[commonName, 'lower']], issuer: middle, extensions: [extensions.authority()] });
  const leaf = client({ issuer: lower });
  expect(await authenticate([leaf, middle, stranger, lower])).toBeDefined();
  await expect(authenticate([leaf, lower])).rejects.toThrow(unknownAuthority);
});

test('the cached result for a chain is not used for the leaf alone', async () => {
  const middle = issuingCa();
  const leaf = client({ issuer: middle });
  const authenticator = clientCertificate({ bundle: () => root.pem, clock, domains: defaultDomains });
  const ask = (chain: readonly Forged[]) =>
    authenticator.authenticate(credentials({}, { certificates: chain.map(({ der }) => der) }));
  expect(await ask([leaf, middle])).toBeDefined();
  await expect(ask([leaf])).rejects.toThrow(unknownAuthority);
});

test('an empty list of extended key usages allows everything', async () => {
  expect(await authenticate([client({ extensions: [extensions.extendedKeyUsage()] })])).toBeDefined();
});

test.each<[string, () => readonly Forged[], string]>([
  ['a CA of the same name', () => [client({ issuer: stranger })], unknownAuthority],
  ['a forged signature', () => [client({ signedBy: stranger.key })], unknownAuthority],
  ['a self-signed certificate', () => [forge({ subject: [[commonName, 'root']] })], unknownAuthority],
  ['another certificate of the trusted CA for its own key', () => [renewed()], unknownAuthority],
  [
    'an issuer that is not a CA',
    () => {
      const fake = client();
      return [client({ issuer: fake }), fake];
    },
    unknownAuthority,
  ],
  ...([1, 2] as const).map((version): [string, () => readonly Forged[], string] => [
    `an issuer of version ${version}, which cannot state that it is not a CA,`,
    () => {
      const user = forge({ subject: [[commonName, 'mallory']], issuer: root, version });
      return [client({ issuer: user }), user];
    },
    'x509: certificate is not authorized to sign other certificates',
  ]),
  [
    'an issuer without the right to sign certificates',
    () => {
      const ca = issuingCa({ extensions: [extensions.authority(), extensions.signatureOnly()] });
      return [client({ issuer: ca }), ca];
    },
    unknownAuthority,
  ],
  ['a SHA-1 signature', () => [client({ hash: 'sha1' })], 'x509: certificate signed with an insecure algorithm'],
  [
    'a server certificate',
    () => [client({ extensions: [extensions.extendedKeyUsage(usages.server)] })],
    'x509: certificate specifies an incompatible key usage',
  ],
  [
    'a CA for servers only',
    () => {
      const ca = issuingCa({ extensions: [extensions.authority(), extensions.extendedKeyUsage(usages.server)] });
      return [client({ issuer: ca }), ca];
    },
    'x509: certificate specifies an incompatible key usage',
  ],
  [
    'an expired certificate',
    () => [client({ notAfter: now - 1_000 })],
    'x509: certificate has expired or is not yet valid: current time 2026-01-01T00:00:00Z is after 2025-12-31T23:59:59Z',
  ],
  [
    'a certificate that is not yet valid',
    () => [client({ notBefore: now + 1_000 })],
    'x509: certificate has expired or is not yet valid: current time 2026-01-01T00:00:00Z is before 2026-01-01T00:00:01Z',
  ],
  [
    'an expired CA',
    () => {
      const ca = issuingCa({ notAfter: now - 1_000 });
      return [client({ issuer: ca }), ca];
    },
    'x509: certificate has expired or is not yet valid',
  ],
  [
    'an unknown critical extension',
    () => [client({ extensions: [extensions.unknown({ critical: true })] })],
    'x509: unhandled critical extension',
  ],
  [
    'a critical alternative name of an unknown type',
    () => [client({ extensions: [extensions.otherNames({ critical: true })] })],
    'x509: unhandled critical extension',
  ],
  [
    'a subject outside the directory names that its CA is limited to',
    () => {
      const limits = [extensions.authority(), extensions.directoryConstraints({ critical: true })];
      const ca = issuingCa({ extensions: limits });
      const subject = [
        [commonName, 'eve'],
        [organization, 'system:masters'],
      ] as const;
      return [client({ subject, issuer: ca }), ca];
    },
    'x509: unhandled critical extension',
  ],
  [
    'a path that is too long',
    () => {
      const top = issuingCa({ extensions: [extensions.authority(0)] });
      const low = forge({ subject: [[commonName, 'low']], issuer: top, extensions: [extensions.authority()] });
      return [client({ issuer: low }), low, top];
    },
    'x509: too many intermediates for path length constraint',
  ],
  [
    'a path that is too long through a CA that renewed itself',
    () => {
      const top = issuingCa({ extensions: [extensions.authority(0)] });
      const same = forge({ subject: [[commonName, 'issuing']], issuer: top, extensions: [extensions.authority()] });
      return [client({ issuer: same }), same, top];
    },
    'x509: too many intermediates for path length constraint',
  ],
])('%s is refused', async (_name, chain, message) => {
  const answer = authenticate(chain());
  await expect(answer).rejects.toBeInstanceOf(AuthenticationError);
  await expect(answer).rejects.toThrow(message);
});

test.each([
  ['a certificate without usages', []],
  ['any usage', [extensions.extendedKeyUsage(usages.any)]],
  ['an unknown extension that is not critical', [extensions.unknown({ critical: false })]],
  ['a certificate policy', [extensions.policies(), extensions.inhibitAnyPolicy()]],
  ['a CRL distribution point', [extensions.distributionPoints()]],
  ['an alternative name of an unknown type', [extensions.otherNames({ critical: false })]],
])('%s is accepted', async (_name, given) => {
  expect(await authenticate([client({ extensions: given })])).toBeDefined();
});

test.each([1, 2] as const)('extensions in a certificate of version %i are ignored', async (version) => {
  const given = [extensions.extendedKeyUsage(usages.server), extensions.unknown({ critical: true })];
  expect(await authenticate([client({ version, extensions: given })])).toBeDefined();
});

test('a certificate of the trusted CA for its own key is accepted with other alternative names', async () => {
  expect(await authenticate([renewed({ extensions: [extensions.loopback()] })])).toBeDefined();
});

test('a CA with name constraints may issue only certificates without alternative names', async () => {
  const ca = issuingCa({ extensions: [extensions.authority(), extensions.dnsConstraints()] });
  expect(await authenticate([client({ issuer: ca }), ca])).toBeDefined();
  const named = client({ issuer: ca, extensions: [extensions.otherNames({ critical: false })] });
  await expect(authenticate([named, ca])).rejects.toThrow('issuer has name constraints');
});

test('a path of the maximum length is accepted', async () => {
  const ca = issuingCa({ extensions: [extensions.authority(0)] });
  expect(await authenticate([client({ issuer: ca }), ca])).toBeDefined();
});

test.each([true, false])('a CA that requires an explicit policy is refused (critical: %s)', async (critical) => {
  const constraints = extensions.policyConstraints('requireExplicitPolicy', { critical });
  const ca = issuingCa({ extensions: [extensions.authority(), extensions.policies(), constraints] });
  await expect(authenticate([client({ issuer: ca }), ca])).rejects.toThrow(
    'x509: no valid chains built: 1 candidate chains with invalid policies',
  );
});

test('a CA with other policy constraints is accepted, and so is a trusted CA that requires an explicit policy', async () => {
  const ca = issuingCa({ extensions: [extensions.authority(), extensions.policyConstraints('inhibitPolicyMapping')] });
  expect(await authenticate([client({ issuer: ca }), ca])).toBeDefined();
  const constraints = extensions.policyConstraints('requireExplicitPolicy');
  const trusted = forge({ subject: [[commonName, 'top']], extensions: [extensions.authority(), constraints] });
  expect(await authenticate([client({ issuer: trusted })], trusted.pem)).toBeDefined();
});

test('a directly trusted certificate must be valid for clients as well', async () => {
  const itself = (...wanted: readonly Buffer[]) => forge({ subject: [[commonName, 'bob']], extensions: wanted });
  const [server, any] = [itself(extensions.extendedKeyUsage(usages.server)), itself()];
  expect(await authenticate([any], any.pem)).toBeDefined();
  await expect(authenticate([server], server.pem)).rejects.toThrow('incompatible key usage');
});

test('a trusted CA may have version 1', async () => {
  const old = forge({ subject: [[commonName, 'old']], version: 1 });
  expect(await authenticate([client({ issuer: old })], old.pem)).toBeDefined();
});

test('bytes that are not a certificate are refused', async () => {
  const authenticator = clientCertificate({ bundle: () => root.pem, clock, domains: defaultDomains });
  for (const der of [Buffer.alloc(0), Buffer.from('nonsense'), client().der.subarray(0, 100)]) {
    await expect(authenticator.authenticate(credentials({}, { certificates: [der] }))).rejects.toBeInstanceOf(
      AuthenticationError,
    );
  }
});

test('a chain of many certificates of the same name is refused quickly', async () => {
  const same = { subject: [[commonName, 'loop']] as const, extensions: [extensions.authority()] };
  const first = forge(same);
  const others = Array.from({ length: 30 }, () => forge({ ...same, issuer: first, signedBy: first.key }));
  const chain = [client({ issuer: first }), first, ...others];
  await expectShort(5_000, () =>
    expect(authenticate(chain)).rejects.toThrow(
      'x509: signature check attempts limit reached while verifying certificate chain',
    ),
  );
});

test('the issuer is found by its key identifier among many CAs of the same name', async () => {
  const sameName = (id: string): Forged =>
    forge({
      subject: [[commonName, 'kubernetes']],
      extensions: [extensions.authority(), ...extensions.keyIds(id, id)],
    });
  const others = Array.from({ length: 30 }, (_, at) => sameName(`other ${at}`));
  const issuer = sameName('issuer');
  const leaf = client({ issuer, extensions: extensions.keyIds('leaf', 'issuer') });
  expect(await authenticate([leaf], [...others, issuer].map(({ pem }) => pem).join(''))).toBeDefined();
});

test('a certificate that is sent many times is checked once', async () => {
  const middle = issuingCa();
  const other = forge({ subject: [[commonName, 'issuing']], extensions: [extensions.authority()] });
  const copies = Array.from({ length: 30 }, () => other);
  expect(await authenticate([client({ issuer: middle }), ...copies, middle])).toBeDefined();
});

test('a chain of many CAs is accepted', async () => {
  const cas = [root];
  for (let at = 0; at < 15; at++) {
    const issuer = cas.at(-1) ?? root;
    cas.push(forge({ subject: [[commonName, `ca ${at}`]], issuer, extensions: [extensions.authority()] }));
  }
  const [issuer = root, ...above] = cas.toReversed();
  expect(await authenticate([client({ issuer }), issuer, ...above])).toBeDefined();
});

test('a chain with an RSA key that is too large is refused', async () => {
  const rsa = (bits: number): KeyObject => {
    const n = Buffer.alloc(bits / 8, 0xff).toString('base64url');
    return createPublicKey({ key: { kty: 'RSA', n, e: 'AQAB' }, format: 'jwk' });
  };
  const leaf = client();
  const huge = 'tls: client sent certificate containing RSA key larger than 8192 bits';
  for (const chain of [[leaf, client({ publicKey: rsa(8_200) })], [client({ publicKey: rsa(8_200) })]]) {
    await expect(authenticate(chain)).rejects.toThrow(huge);
  }
  expect(await authenticate([leaf, client({ publicKey: rsa(8_192) })])).toBeDefined();
});

test('a refusal is cached for ten seconds', async () => {
  const at = new FakeClock(now);
  const authenticator = clientCertificate({ bundle: () => root.pem, clock: at, domains: defaultDomains });
  const { der } = client({ notBefore: now + 5_000 });
  const request = credentials({}, { certificates: [der] });
  await expect(authenticator.authenticate(request)).rejects.toThrow('not yet valid');
  await at.advance(9_999);
  await expect(authenticator.authenticate(request)).rejects.toThrow('not yet valid');
  await at.advance(1);
  expect(await authenticator.authenticate(request)).toBeDefined();
});

test('the result is cached until the certificate expires or the bundle changes', async () => {
  const at = new FakeClock(now);
  let bundle = root.pem;
  const authenticator = clientCertificate({ bundle: () => bundle, clock: at, domains: defaultDomains });
  const request = credentials({}, { certificates: [client().der] });
  expect(await authenticator.authenticate(request)).toBeDefined();
  bundle = stranger.pem;
  await expect(authenticator.authenticate(request)).rejects.toThrow(unknownAuthority);
  bundle = `${stranger.pem}${root.pem}`;
  expect(await authenticator.authenticate(request)).toBeDefined();
  await at.advance(2 * day);
  await expect(authenticator.authenticate(request)).rejects.toThrow('has expired');
});

test('the result is not cached for longer than the CA is valid', async () => {
  const at = new FakeClock(now);
  const ca = issuingCa({ notAfter: now + 5_000 });
  const authenticator = clientCertificate({ bundle: () => root.pem, clock: at, domains: defaultDomains });
  const request = credentials({}, { certificates: [client({ issuer: ca }).der, ca.der] });
  await at.advance(5_000);
  expect(await authenticator.authenticate(request)).toBeDefined();
  await at.advance(1_000);
  await expect(authenticator.authenticate(request)).rejects.toThrow('has expired');
});
