import { expect, test } from 'vitest';
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

test.each(['', 'x', 'example.test', '*', 'example.test/A', 'example.test/a/b'])('%j is served by nobody', (serves) => {
  expect(() => defineSigner({ serves, issue: async () => '' })).toThrow(/^signer /);
});

test('may refuse with a reason of its own, before and while issuing', async () => {
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
