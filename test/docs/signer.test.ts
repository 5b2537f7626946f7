import { caSigner } from 'kedge';
import { signerContract, testAuthority } from 'kedge/testing';
import { test } from 'vitest';

const usages = ['digital signature', 'client auth'];
const contract = signerContract(async () => {
  const ca = await testAuthority();
  const signer = caSigner({ serves: 'example.com/ci', authority: () => ca, maxSeconds: 3_600 });
  return { signer, signerName: 'example.com/ci', issues: { usages }, maxSeconds: 3_600 };
});
for (const { name, run } of contract) test(name, run);
