import { expect, test } from 'vitest';
import { readCertificateRequest } from '../../../src/pki/certificate-request.js';
import type { PodSigningRequest } from '../../../src/pki/pod-signing.js';
import { defineSigner } from '../../../src/pki/signers/define-signer.js';
import { testAuthority, testRequest } from '../../../src/testing/certificates.js';
import { signerContract } from '../../../src/testing/signer-contract.js';

const usages = ['digital signature', 'client auth'];
const make = async () => {
  const ca = await testAuthority();
  const signer = defineSigner({
    serves: 'example.test/*',
    maxSeconds: 7_200,
    validate: (_, signing) => (signing.usages.includes('server auth') ? 'no servers' : undefined),
    issue: async (request, { seconds, signing }) => ca.issue(request, { seconds, usages: signing.usages }),
    trustAnchors: async () => ca.anchors,
  });
  return {
    signer,
    signerName: 'example.test/a',
    issues: { usages },
    refuses: { usages: [...usages, 'server auth'] },
    maxSeconds: 7_200,
  };
};
test.each(signerContract(make).map((one) => [one.name, one] as const))('%s', (_, one) => one.run());

test.each(['', 'x', 'example.test', '*', 'example.test/A', 'example.test/a/b'])(
  '%j is not a name that a signer can serve',
  (serves) => {
    expect(() => defineSigner({ serves, issue: async () => '' })).toThrow(/^signer /);
  },
);

test('a signer may refuse with its own reason, before and while issuing', async () => {
  const { pem } = await testRequest();
  const refusal = { refused: 'not today', reason: 'Closed' };
  const signing = {
    signerName: 'a.test/b',
    request: pem,
    usages,
    requester: { username: 'u', groups: [] },
    expirationSeconds: 60,
    uid: '1',
  };
  const never = new AbortController().signal;
  const granted: number[] = [];
  const before = defineSigner({ serves: 'a.test/b', validate: () => refusal, issue: async () => 'never' });
  const during = defineSigner({
    serves: 'a.test/b',
    issue: async (_, { seconds }) => {
      granted.push(seconds);
      return refusal;
    },
  });
  expect(await before.sign(signing, never)).toEqual(refusal);
  expect(await during.sign(signing, never)).toEqual(refusal);
  expect(granted).toEqual([600]);
  expect(before.trustAnchors).toBeUndefined();
});

const podRequest = async (annotations: Readonly<Record<string, string>> = {}): Promise<PodSigningRequest> => ({
  signerName: 'a.test/b',
  namespace: 'shop',
  pod: { name: 'web', uid: 'p' },
  serviceAccount: { name: 'robot', uid: 's' },
  node: { name: 'node-1', uid: 'n' },
  publicKey: readCertificateRequest((await testRequest()).pem).publicKey,
  annotations,
  maxSeconds: 86_400,
  uid: '1',
});

test('pod certificates live as long as requested and allowed, and annotations must be known', async () => {
  const never = new AbortController().signal;
  const granted: number[] = [];
  const of = (maxSeconds: number) =>
    defineSigner({
      serves: 'a.test/b',
      maxSeconds,
      pods: {
        annotations: ['a.test/known'],
        validate: ({ annotations }) => (annotations['a.test/known'] === 'no' ? 'as you say' : undefined),
        async issue(_, { seconds }) {
          granted.push(seconds);
          return { failed: 'no more', reason: 'Empty' };
        },
      },
    });
  const failed = { failed: 'no more', reason: 'Empty' };
  expect(await of(7_200).signPod?.(await podRequest(), never)).toEqual(failed);
  expect(await of(900_000).signPod?.(await podRequest({ 'a.test/known': 'yes' }), never)).toEqual(failed);
  expect(granted).toEqual([7_200, 86_400]);
  expect(await of(7_200).signPod?.(await podRequest({ 'a.test/known': 'no' }), never)).toEqual({
    refused: 'as you say',
    reason: 'SignerValidationFailure',
  });
  expect(await of(7_200).signPod?.(await podRequest({ 'a.test/other': '' }), never)).toEqual({
    refused: 'this signer does not know the annotation a.test/other',
    reason: 'InvalidUnverifiedUserAnnotations',
  });
});

test('a signer must issue something, and to pods for at least an hour', async () => {
  expect(() => defineSigner({ serves: 'a.test/b' })).toThrow('it has neither issue nor pods');
  const pods = { issue: async () => '' };
  expect(() => defineSigner({ serves: 'a.test/b', maxSeconds: 3_599, pods })).toThrow(
    'must be valid for at least an hour',
  );
  expect(defineSigner({ serves: 'a.test/b', issue: async () => '' }).signPod).toBeUndefined();
});
