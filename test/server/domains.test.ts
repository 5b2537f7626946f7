import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SelfSubjectRulesReviews, SubjectAccessReviews } from '../../src/api/kinds/access-review.js';
import { CertificateSigningRequests } from '../../src/api/kinds/certificate-signing-request.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Events } from '../../src/api/kinds/event.js';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import { ClusterRoles, Roles } from '../../src/api/kinds/role.js';
import { ClusterRoleBindings } from '../../src/api/kinds/role-binding.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import { SelfSubjectReviews } from '../../src/api/kinds/self-subject-review.js';
import { ServiceAccounts } from '../../src/api/kinds/service-account.js';
import type { TokenRequest } from '../../src/api/kinds/token-request.js';
import { TokenReviews } from '../../src/api/kinds/token-review.js';
import { type TestServer, testServer } from '../../src/testing/test-server.js';
import { until } from '../../src/testing/until.js';

/** Identity and access under other domains. The client renames what it sends; responses are as served. */
const domains = { api: 'example.org', signer: 'example.net', extensions: ['x-kubernetes-'] };
const rbac = 'rbac.authorization.example.org';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ domains });
});
afterAll(() => server.stop());

const group = (name: string, version = 'v1'): string => `${name}.example.org/${version}`;
const eve = { username: 'eve', groups: ['system:authenticated'] };
const inDefault = (name: string) => ({ namespace: 'default', name });

test('roles can be bound and grant access', async () => {
  const { client } = server;
  const apiVersion = group('rbac.authorization');
  const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'] }];
  const made = await client
    .resource(ClusterRoles)
    .create({ apiVersion, kind: 'ClusterRole', metadata: { name: 'r' }, rules });
  expect(made.apiVersion).toBe(apiVersion);
  const bound = await client.resource(ClusterRoleBindings).create({
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'r' },
    roleRef: { apiGroup: '', kind: 'ClusterRole', name: 'r' },
    subjects: [{ kind: 'User', name: 'eve' }],
  });
  expect([bound.roleRef.apiGroup, bound.subjects?.[0]?.apiGroup]).toEqual([rbac, rbac]);
  const asEve = server.server.client(eve);
  expect(await asEve.resource(ConfigMaps).get(inDefault('none'))).toBeUndefined();
  await expect(asEve.resource(Roles).list({ namespace: 'default' })).rejects.toThrow(
    `roles.${rbac} is forbidden: User "eve" cannot list resource "roles" in API group "${rbac}" in the namespace "default"`,
  );
});

test('default roles name these groups, and are aggregated', async () => {
  const { client } = server;
  const edit = await until(client.resource(ClusterRoles), { name: 'admin' }, (found) => Boolean(found?.rules?.length));
  expect(edit?.rules?.flatMap(({ apiGroups = [] }) => apiGroups)).toEqual(
    expect.arrayContaining([rbac, 'authorization.example.org']),
  );
  expect(edit?.metadata.labels).toHaveProperty(['example.net/bootstrapping'], 'rbac-defaults');
  expect(edit?.metadata.annotations).toHaveProperty(['rbac.authorization.example.net/autoupdate'], 'true');
  const roles = (await client.resource(ClusterRoles).list()).items;
  const texts = JSON.stringify(
    roles.map(({ metadata: { managedFields: _managed, ...metadata }, ...rest }) => ({ ...rest, metadata })),
  );
  expect(texts).not.toContain('k8s.io');
  expect(texts).not.toContain('kubernetes.io');
});

test('a node agent with permission gets its certificate', async () => {
  const { client, certificates } = server;
  for (const name of [
    'system:node-bootstrapper',
    'system:certificates.example.org:certificatesigningrequests:nodeclient',
  ]) {
    await client.resource(ClusterRoleBindings).create({
      apiVersion: group('rbac.authorization'),
      kind: 'ClusterRoleBinding',
      metadata: { name: `boot:${name}` },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
      subjects: [{ kind: 'User', name: 'boot', apiGroup: rbac }],
    });
  }
  const request = await certificates.signingRequest({
    name: 'node',
    signerName: 'example.net/kube-apiserver-client-kubelet',
    commonName: 'system:node:n1',
    organizations: ['system:nodes'],
  });
  const boot = server.server.client({ username: 'boot', groups: ['system:authenticated'] });
  await boot.resource(CertificateSigningRequests).create(request);
  const requests = client.resource(CertificateSigningRequests);
  await until(requests, { name: 'node' }, (found) => Boolean(found?.status?.certificate));
});

test('the garbage collector ignores events', async () => {
  const { client } = server;
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'none', uid: 'none' }];
  const metadata = { ...inDefault('owned'), ownerReferences };
  const event = { apiVersion: 'v1', kind: 'Event', metadata, involvedObject: { namespace: 'default' } };
  await client.resource(Events).create(event as never);
  await client.resource(Secrets).create({ apiVersion: 'v1', kind: 'Secret', metadata });
  await until(client.resource(Secrets), inDefault('owned'), (found) => found === undefined);
  expect(await client.resource(Events).get(inDefault('owned'))).toBeDefined();
});

test('rights that one does not have cannot be granted', async () => {
  const { client } = server;
  const apiVersion = group('rbac.authorization');
  const rules = [{ verbs: ['create', 'update'], apiGroups: [rbac], resources: ['roles'] }];
  await client.resource(ClusterRoles).create({ apiVersion, kind: 'ClusterRole', metadata: { name: 'writer' }, rules });
  await client.resource(ClusterRoleBindings).create({
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'writer' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'writer' },
    subjects: [{ kind: 'User', apiGroup: rbac, name: 'eve' }],
  });
  const wants = [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'] }];
  await expect(
    server.server
      .client(eve)
      .resource(Roles)
      .create({ apiVersion, kind: 'Role', metadata: inDefault('x'), rules: wants }),
  ).rejects.toThrow(
    `roles.${rbac} "x" is forbidden: user "eve" (groups=["system:authenticated"]) is attempting to grant RBAC permissions`,
  );
});

describe('access reviews', () => {
  const ask = (spec: object) =>
    server.client
      .resource(SubjectAccessReviews)
      .create({ apiVersion: group('authorization'), kind: 'SubjectAccessReview', metadata: {}, spec });

  test('are answered', async () => {
    const resourceAttributes = { verb: 'get', resource: 'configmaps', namespace: 'default' };
    const { apiVersion, status } = await ask({ user: 'eve', resourceAttributes });
    expect(apiVersion).toBe(group('authorization'));
    expect(status).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by ClusterRoleBinding "r" of ClusterRole "r" to User "eve"',
    });
  });

  test('are refused with the name of the group if empty', async () => {
    await expect(ask({ user: 'eve' })).rejects.toThrow(
      '.authorization.example.org "" is invalid: spec.resourceAttributes',
    );
  });

  test('about oneself are answered', async () => {
    const asEve = server.server.client(eve);
    const rules = await asEve.resource(SelfSubjectRulesReviews).create({
      apiVersion: group('authorization'),
      kind: 'SelfSubjectRulesReview',
      metadata: {},
      spec: { namespace: 'default' },
    });
    expect(rules.status?.incomplete).toBe(false);
    const who = await asEve
      .resource(SelfSubjectReviews)
      .create({ apiVersion: group('authentication'), kind: 'SelfSubjectReview', metadata: {} });
    expect([who.apiVersion, who.status?.userInfo?.username]).toEqual([group('authentication'), 'eve']);
  });
});

describe('tokens', () => {
  const review = (token: string) =>
    server.client
      .resource(TokenReviews)
      .create({ apiVersion: group('authentication'), kind: 'TokenReview', metadata: {}, spec: { token } });

  test('are issued and reviewed, with claims in these names', async () => {
    const accounts = server.client.resource(ServiceAccounts);
    await until(accounts, inDefault('default'), (found) => found !== undefined);
    const request = { apiVersion: group('authentication'), kind: 'TokenRequest', metadata: {}, spec: {} };
    const answer = await accounts.subresource<TokenRequest>('token').create(inDefault('default'), request);
    expect(answer.apiVersion).toBe(group('authentication'));
    const [, payload = ''] = answer.status?.token.split('.') ?? [];
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
    expect(claims['example.net']).toMatchObject({ namespace: 'default' });
    const { status } = await review(answer.status?.token ?? '');
    expect(status?.user?.username).toBe('system:serviceaccount:default:default');
    expect(Object.keys(status?.user?.extra ?? {})).toEqual(['authentication.example.net/credential-id']);
    await expect(
      accounts.subresource<TokenRequest>('token').create(inDefault('default'), { ...request, metadata: { name: 'x' } }),
    ).rejects.toThrow('TokenRequest.authentication.example.org "default" is invalid: metadata.name');
  });

  test('in Secrets have the type in this domain', async () => {
    const secrets = server.client.resource(Secrets);
    const annotations = { 'example.net/service-account.name': 'default' };
    const type = 'example.net/service-account-token';
    const token = (name: string, more: object) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...inDefault(name), ...more },
    });
    await expect(secrets.create({ ...token('t', {}), type })).rejects.toThrow(
      'metadata.annotations[example.net/service-account.name]: Required value',
    );
    await secrets.create({ ...token('t', { annotations }), type });
    const filled = await until(secrets, inDefault('t'), (found) => found?.data?.['token'] !== undefined);
    expect(filled?.metadata.annotations).toHaveProperty(['example.net/service-account.uid']);
    const text = Buffer.from(filled?.data?.['token'] ?? '', 'base64').toString();
    expect((await review(text)).status?.user?.username).toBe('system:serviceaccount:default:default');
    await until(
      secrets,
      inDefault('t'),
      (found) => found?.metadata.labels?.['example.net/legacy-token-last-used'] !== undefined,
    );
    // The name in Kubernetes has no meaning here.
    await secrets.create({ ...token('other', {}), type: 'kubernetes.io/service-account-token' });
  });
});

test('labels and annotations of the server are under the signer domain', async () => {
  const { client } = server;
  const labels = (await client.resource(Namespaces).get({ name: 'default' }))?.metadata.labels;
  expect(labels).toEqual({ 'example.net/metadata.name': 'default' });
  const rootCa = await until(
    client.resource(ConfigMaps),
    inDefault('kube-root-ca.crt'),
    (found) => found !== undefined,
  );
  expect(Object.keys(rootCa?.metadata.annotations ?? {})).toEqual(['example.net/description']);
});
