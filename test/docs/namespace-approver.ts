import { approve, CertificateSigningRequests, defineController, deny, isUndecided, Namespaces } from 'kedge';

const signerName = 'example.com/agents';

/** Approves what service accounts ask of one signer if their namespace has the label for it, and denies the rest. */
export const namespaceApprover = defineController({
  name: 'namespace-approver',
  for: CertificateSigningRequests,
  when: (csr) => csr.spec.signerName === signerName && isUndecided(csr),

  async reconcile(csr, { client }) {
    const [, name = ''] = /^system:serviceaccount:([^:]+):/.exec(csr.spec.username ?? '') ?? [];
    const namespace = name === '' ? undefined : await client.resource(Namespaces).get({ name });
    if (namespace?.metadata.labels?.['example.com/certificates'] === 'allowed')
      await approve(client, csr, { reason: 'NamespaceAllowed', message: `namespace ${name} may have certificates` });
    else await deny(client, csr, { reason: 'NamespaceNotAllowed', message: 'the label of a namespace is missing' });
  },
});
