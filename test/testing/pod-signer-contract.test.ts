import { expect, test } from 'vitest';
import type { PodSigningRequest, PodSigningResult } from '../../src/pki/pod-signing.js';
import { testAuthority } from '../../src/testing/certificates.js';
import { podSignerContract } from '../../src/testing/pod-signer-contract.js';

const run = (name: string, signPod: (request: PodSigningRequest) => Promise<PodSigningResult>): Promise<void> => {
  const signer = { serves: 'a.test/b', sign: async () => ({ refused: 'no', reason: 'No' }), signPod };
  const contract = podSignerContract(() => ({ signer, signerName: 'a.test/b', maxSeconds: 3_600, refuses: {} }));
  return contract.find((one) => one.name === name)?.run() ?? Promise.reject(new Error('there is no such case'));
};
const issued = async ({ publicKey, maxSeconds }: PodSigningRequest): Promise<PodSigningResult> => ({
  issued: await (await testAuthority()).issueForPod({ publicKey }, { seconds: maxSeconds, usages: ['client auth'] }),
});

test.each([
  'the requested lifetime is granted, within bounds',
  'an unknown annotation is denied',
  'an unsuitable request is denied with a message',
  'a cancelled request is not signed',
])('a signer that issues whatever it is asked for violates: %s', async (name) => {
  await expect(run(name, issued)).rejects.toThrow();
});

test('a signer that issues for the requested key fulfils the other rule', async () => {
  await run('certificates are for the requested key and verify against the trust anchors', issued);
});
