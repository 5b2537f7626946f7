import { afterEach, expect, test, vi } from 'vitest';
import { caSigner } from '../../src/pki/signers/ca-signer.js';
import { testAuthority } from '../../src/testing/certificates.js';
import { signerContract } from '../../src/testing/signer-contract.js';

afterEach(() => {
  vi.useRealTimers();
});

const contract = signerContract(async () => {
  const ca = await testAuthority();
  const signer = caSigner({ serves: 'a.test/b', authority: () => ca, maxSeconds: 3_600 });
  return { signer, signerName: 'a.test/b', issues: { usages: ['client auth'] }, maxSeconds: 3_600 };
});

test('no case waits for a time to pass: test runners allow five seconds by default', { timeout: 60_000 }, async () => {
  vi.useFakeTimers();
  for (const { name, run } of contract) await expect(run(), name).resolves.toBeUndefined();
});
