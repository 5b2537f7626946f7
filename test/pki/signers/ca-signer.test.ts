import { describe, expect, test } from 'vitest';
import { wellKnownSigners } from '../../../src/api/well-known-signers.js';
import { readPemCertificates } from '../../../src/pki/certificate.js';
import { loadCertificateAuthority } from '../../../src/pki/certificate-authority.js';
import { PkiError } from '../../../src/pki/pki-error.js';
import type { PodSigningRequest } from '../../../src/pki/pod-signing.js';
import type { SigningRequest } from '../../../src/pki/signer.js';
import { caSigner } from '../../../src/pki/signers/ca-signer.js';
import { grantedSeconds } from '../../../src/pki/signers/define-signer.js';
import { selfSignedSigner } from '../../../src/pki/signers/self-signed-signer.js';
import { spiffeId } from '../../../src/pki/signers/spiffe.js';
import { type TestRequestOptions, testAuthority, testRequest } from '../../../src/testing/certificates.js';
import { podSignerContract } from '../../../src/testing/pod-signer-contract.js';
import { type SignerUnderTest, signerContract } from '../../../src/testing/signer-contract.js';

const signers = wellKnownSigners();
const node = { commonName: 'system:node:a', organizations: ['system:nodes'] };
const clientUsages = ['digital signature', 'client auth'];
const servingUsages = ['key encipherment', 'server auth', 'digital signature'];
const day = 86_400;

const underTest: Readonly<Record<string, () => Promise<SignerUnderTest>>> = {
  'a CA signer': async () => {
    let ca = await testAuthority();
    return {
      async switchAuthority() {
        ca = await testAuthority({ commonName: 'next' });
      },
      signer: caSigner({ serves: signers.client[0], authority: () => ca, maxSeconds: day }),
      signerName: signers.client[0],
      issues: { usages: clientUsages },
      refuses: { usages: ['server auth'] },
      maxSeconds: day,
    };
  },
  'a CA signer of a whole domain under an intermediate CA': async () => {
    const root = await testAuthority({ commonName: 'root' });
    const ca = loadCertificateAuthority(await root.issueAuthority({ commonName: 'middle' }));
    return {
      signer: caSigner({ serves: 'kubernetes.io/*', authority: async () => ca, maxSeconds: 2 * day }),
      signerName: signers['node-serving'][0],
      issues: { request: { ...node, dnsNames: ['a.example'] }, usages: servingUsages },
      refuses: { request: node, usages: servingUsages },
      maxSeconds: 2 * day,
    };
  },
  'a self-signed signer': async () => ({
    signer: selfSignedSigner({ serves: 'example.test/anything', maxSeconds: day }),
    signerName: 'example.test/anything',
    issues: { usages: ['code signing'] },
    maxSeconds: day,
  }),
};
for (const [name, make] of Object.entries(underTest)) {
  describe(name, () => {
    test.each(signerContract(make).map((one) => [one.name, one] as const))('%s', (_, one) => one.run());
  });
}

test.each([
  [undefined, 1_000, 1_000],
  [1_001, 1_000, 1_000],
  [700, 1_000, 700],
  [10, 1_000, 600],
  [10, 100, 600],
  [200, 100, 100],
])('of %s requested seconds and a maximum of %i, %i are granted', (wanted, most, granted) => {
  expect(grantedSeconds(wanted, most)).toBe(granted);
});

const sign = async (signerName: string, request: TestRequestOptions, usages: readonly string[]) => {
  const ca = await testAuthority();
  const { pem } = await testRequest(request);
  const signing: SigningRequest = {
    signerName,
    request: pem,
    usages,
    requester: { username: 'u', groups: [] },
    expirationSeconds: undefined,
    uid: '1',
  };
  const result = await caSigner({ serves: 'kubernetes.io/*', authority: () => ca }).sign(signing, AbortSignal.any([]));
  return 'refused' in result ? result.refused : 'issued';
};

const uri = { uris: ['spiffe://a/b'] };
const mail = { emailAddresses: ['a@b'] };
const dns = { dnsNames: ['a.b'] };
const ip = { ipAddresses: ['10.0.0.1'] };
const cases: readonly (readonly [keyof typeof signers, TestRequestOptions, readonly string[], string])[] = [
  ['client', { organizations: ['x'], ...uri, ...mail }, clientUsages, 'issued'],
  ['client', {}, ['client auth', 'server auth', 'any'], 'invalid usage for client certificate: server auth'],
  ['client', {}, ['digital signature'], 'missing required usage for client certificate: client auth'],
  ['node-client', node, clientUsages, 'issued'],
  ['node-client', node, ['key encipherment', ...clientUsages], 'issued'],
  ['node-client', { ...node, organizations: [] }, clientUsages, 'subject organization is not system:nodes'],
  [
    'node-client',
    { ...node, organizations: ['system:nodes', 'x'] },
    clientUsages,
    'subject organization is not system:nodes',
  ],
  ['node-client', { ...node, ...dns, ...uri }, clientUsages, 'DNS subjectAltNames are not allowed'],
  ['node-client', { ...node, ...mail, ...ip }, clientUsages, 'Email subjectAltNames are not allowed'],
  ['node-client', { ...node, ...ip }, clientUsages, 'IP subjectAltNames are not allowed'],
  ['node-client', { ...node, ...uri }, clientUsages, 'URI subjectAltNames are not allowed'],
  ['node-client', { ...node, commonName: 'a' }, clientUsages, 'subject common name does not begin with system:node:'],
  ['node-client', { ...node, commonName: 'system:node:' }, clientUsages, 'issued'],
  ['node-client', node, servingUsages, 'usages did not match [client auth digital signature key encipherment]'],
  ['node-serving', { ...node, ...ip }, servingUsages, 'issued'],
  ['node-serving', { ...node, ...dns }, servingUsages.slice(1), 'issued'],
  ['node-serving', node, servingUsages, 'DNS or IP subjectAltName is required'],
  ['node-serving', { ...node, ...dns, ...mail }, servingUsages, 'Email subjectAltNames are not allowed'],
  ['node-serving', { ...node, ...dns, ...uri }, servingUsages, 'URI subjectAltNames are not allowed'],
  [
    'node-serving',
    { ...node, ...dns },
    clientUsages,
    'usages did not match [digital signature key encipherment server auth]',
  ],
  [
    'node-serving',
    { ...node, ...dns, commonName: 'a' },
    servingUsages,
    'subject common name does not begin with system:node:',
  ],
  ['legacy-unknown', {}, ['any'], 'issued'],
];
test.each(cases)('%s, %j, %j: %4$s', async (signer, request, usages, outcome) => {
  for (const signerName of signers[signer]) expect(await sign(signerName, request, usages)).toBe(outcome);
});

test('a custom rule replaces the built-in ones', async () => {
  const ca = await testAuthority();
  const signer = caSigner({
    serves: signers.client[0],
    authority: () => ca,
    validate: ({ subject }) => (subject.commonName === 'someone' ? 'not you' : undefined),
  });
  const { pem } = await testRequest();
  const signing = {
    signerName: signers.client[0],
    request: pem,
    usages: ['any'],
    requester: { username: 'u', groups: [] },
    expirationSeconds: undefined,
    uid: '1',
  };
  expect(await signer.sign(signing, AbortSignal.any([]))).toEqual({
    refused: 'not you',
    reason: 'SignerValidationFailure',
  });
});

test('an expired CA is an error, not a refusal', async () => {
  const clock = { now: () => 0 };
  const ca = await testAuthority({ seconds: day, clock });
  const { certificate } = ca;
  const late = caSigner({
    serves: 'a.b/c',
    authority: () => ({
      ...ca,
      issue: (request, options) => ca.issue(request, { ...options, now: certificate.notAfter }),
    }),
  });
  const { pem } = await testRequest();
  const signing = {
    signerName: 'a.b/c',
    request: pem,
    usages: ['any'],
    requester: { username: 'u', groups: [] },
    expirationSeconds: undefined,
    uid: '1',
  };
  await expect(late.sign(signing, AbortSignal.any([]))).rejects.toThrow(PkiError);
});

test('a self-signed signer keeps its CA', async () => {
  const signer = selfSignedSigner({ serves: 'a.b/c', commonName: 'mine' });
  const first = await signer.trustAnchors?.();
  expect(first).toBe(await signer.trustAnchors?.());
  expect(readPemCertificates(first ?? '')[0]?.subject.commonName).toBe('mine');
});

const podContract = podSignerContract(async () => {
  const root = await testAuthority({ commonName: 'root' });
  const ca = loadCertificateAuthority(await root.issueAuthority({ commonName: 'intermediate' }));
  const pods = { names: (request: PodSigningRequest) => ({ uris: [spiffeId('a.test', request)] }) };
  const signer = caSigner({ serves: 'a.test/*', authority: () => ca, maxSeconds: day, pods });
  return { signer, signerName: 'a.test/pods', issues: { keyType: 'RSA-3072' }, maxSeconds: day };
});
describe('a CA signer of pods under an intermediate CA', () => {
  test.each(podContract.map((one) => [one.name, one] as const))('%s', (_, one) => one.run());
});
