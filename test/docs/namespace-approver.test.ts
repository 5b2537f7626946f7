import { CertificateSigningRequests, isApproved, isDenied, serviceAccountGroups, serviceAccountUsername } from 'kedge';
import { testServer, testSigningRequest, until } from 'kedge/testing';
import { expect, test } from 'vitest';
import { namespaceApprover } from './namespace-approver.js';

test('the approver approves for namespaces with the label and denies others', async () => {
  const namespace = (name: string, labels = {}) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels },
  });
  await using kit = await testServer({
    controllers: [],
    objects: [namespace('red', { 'example.com/certificates': 'allowed' }), namespace('blue')],
    runnables: [namespaceApprover],
  });
  const ask = async (name: string) => {
    const user = {
      username: serviceAccountUsername(name, 'agent'),
      groups: [...serviceAccountGroups(name), 'system:masters'],
    };
    const request = await testSigningRequest({ name, signerName: 'example.com/agents' });
    await kit.server.client(user).resource(CertificateSigningRequests).create(request);
    const requests = kit.client.resource(CertificateSigningRequests);
    return until(requests, { name }, (csr) => csr !== undefined && (isApproved(csr) || isDenied(csr)));
  };
  expect((await ask('red'))?.status?.conditions).toMatchObject([{ type: 'Approved', reason: 'NamespaceAllowed' }]);
  expect((await ask('blue'))?.status?.conditions).toMatchObject([{ type: 'Denied', reason: 'NamespaceNotAllowed' }]);
});
