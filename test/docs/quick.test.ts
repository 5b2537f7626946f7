import { CertificateSigningRequests, isReason } from 'kedge';
import { testServer } from 'kedge/testing';
import { expect, test } from 'vitest';

test('a request for a certificate of the administrators is forbidden', async () => {
  await using kit = await testServer();
  const csr = await kit.certificates.signingRequest({
    name: 'mallory',
    signerName: 'kubernetes.io/kube-apiserver-client',
    organizations: ['system:masters'],
  });
  const refusal = await kit.client
    .resource(CertificateSigningRequests)
    .create(csr)
    .catch((error: unknown) => error);
  expect(isReason(refusal, 'Forbidden')).toBe(true);
});
