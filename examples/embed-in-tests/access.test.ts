import {
  approve,
  CertificateSigningRequests,
  ClusterRoleBindings,
  ClusterRoles,
  isReason,
  Namespaces,
  type UserInfo,
} from 'kedge';
import { testServer, testSigningRequest, until } from 'kedge/testing';
import { expect, test } from 'vitest';

const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', apiGroup: 'rbac.authorization.k8s.io' };
const developer: UserInfo = { username: 'dora', groups: ['developers', 'system:authenticated'] };

test('developers may ask for certificates and not approve them', async () => {
  await using kit = await testServer();
  const { client, server } = kit;
  await client.resource(ClusterRoles).create({
    apiVersion: rbac.apiVersion,
    kind: 'ClusterRole',
    metadata: { name: 'ask-for-certificates' },
    rules: [
      { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], verbs: ['create', 'get'] },
    ],
  });
  await client.resource(ClusterRoleBindings).create({
    apiVersion: rbac.apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'ask-for-certificates' },
    roleRef: { apiGroup: rbac.apiGroup, kind: 'ClusterRole', name: 'ask-for-certificates' },
    subjects: [{ kind: 'Group', apiGroup: rbac.apiGroup, name: 'developers' }],
  });

  const dora = server.client(developer);
  const csr = await dora.resource(CertificateSigningRequests).create(await testSigningRequest({ name: 'dora' }));
  expect(csr.spec.username).toBe('dora');

  const refusal = await approve(dora, csr, { reason: 'Mine' }).catch((error: unknown) => error);
  expect(isReason(refusal, 'Forbidden')).toBe(true);
});

test('a deleted namespace goes once the namespace controller has emptied it', async () => {
  await using kit = await testServer({ controllers: 'all' });
  const { client } = kit;
  const namespaces = client.resource(Namespaces);
  await namespaces.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'short-lived' } });
  await namespaces.delete({ name: 'short-lived' });
  await until(namespaces, { name: 'short-lived' }, (namespace) => namespace === undefined);
});
