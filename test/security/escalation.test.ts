import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CertificateSigningRequests } from '../../src/api/kinds/certificate-signing-request.js';
import { CustomResourceDefinitions } from '../../src/api/kinds/custom-resource-definition.js';
import {
  type ClusterRole,
  ClusterRoles,
  type PolicyRule,
  type Role,
  Roles,
  rbacGroup,
} from '../../src/api/kinds/role.js';
import { ClusterRoleBindings, RoleBindings, type RoleRef } from '../../src/api/kinds/role-binding.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import type { ApiObject, ResourceType, Unstructured } from '../../src/api/object.js';
import type { UserInfo } from '../../src/api/user.js';
import type { Client } from '../../src/client/client.js';
import { testSigningRequest } from '../../src/testing/certificates.js';
import { type TestServer, testServer } from '../../src/testing/test-server.js';
import { until } from '../../src/testing/until.js';

/**
 * Eve may write every role and binding, and define her own kinds; besides that she may only read ConfigMaps. Whatever
 * she does, she must not gain more permissions.
 */
const eve: UserInfo = { username: 'eve', groups: ['system:authenticated'] };
const every = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
const mayWrite: PolicyRule = {
  verbs: every,
  apiGroups: [rbacGroup, 'apiextensions.k8s.io', 'example.org'],
  resources: ['*'],
};
const holds: PolicyRule = { verbs: ['get'], apiGroups: [''], resources: ['configmaps'] };
const wants: PolicyRule = { verbs: ['get'], apiGroups: [''], resources: ['secrets'] };

const apiVersion = `${rbacGroup}/v1`;
const role = (name: string, rules: readonly PolicyRule[], more: object = {}): Role => ({
  apiVersion,
  kind: 'Role',
  metadata: { name, namespace: 'default', ...more },
  rules,
});
const clusterRole = (name: string, rules: readonly PolicyRule[], more: Partial<ClusterRole> = {}): ClusterRole => ({
  apiVersion,
  kind: 'ClusterRole',
  metadata: { name },
  rules,
  ...more,
});
const eveHerself = { kind: 'User', apiGroup: rbacGroup, name: 'eve' };
const refTo = (name: string, kind = 'ClusterRole'): RoleRef => ({ apiGroup: rbacGroup, kind, name });
const binding = (name: string, roleRef: RoleRef, subjects = [eveHerself]) => ({
  apiVersion,
  kind: 'RoleBinding',
  metadata: { name, namespace: 'default' },
  roleRef,
  subjects,
});
const clusterBinding = (name: string, roleRef: RoleRef, subjects = [eveHerself]) => ({
  apiVersion,
  kind: 'ClusterRoleBinding',
  metadata: { name },
  roleRef,
  subjects,
});

let server: TestServer;
let admin: Client;
let client: Client;
beforeAll(async () => {
  server = await testServer();
  admin = server.client;
  client = server.server.client(eve);
  await admin.resource(ClusterRoles).create(clusterRole('eve', [mayWrite, holds]));
  await admin.resource(ClusterRoleBindings).create(clusterBinding('eve', refTo('eve')));
  await admin.resource(Roles).create(role('harmless', [holds]));
  await admin.resource(ClusterRoles).create(clusterRole('harmless', [holds]));
  await admin.resource(ClusterRoles).create(clusterRole('wanted', [wants]));
  await admin.resource(RoleBindings).create(binding('harmless', refTo('harmless')));
  // The account of another user, with permissions.
  await admin
    .resource(RoleBindings)
    .create(binding('powerful', refTo('cluster-admin'), [{ ...eveHerself, name: 'bob' }]));
  await admin
    .resource(ClusterRoleBindings)
    .create(clusterBinding('powerful', refTo('cluster-admin'), [{ ...eveHerself, name: 'bob' }]));
  await admin.resource(ClusterRoles).create(
    clusterRole('collecting', [], {
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { collect: 'me' } }] },
    }),
  );
  await admin
    .resource(Secrets)
    .create({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'default', name: 'prize' } });
  // A controller aggregates them in two steps: admin gets all of edit last.
  const reads = (resource: string) => (found: ClusterRole | undefined) =>
    Boolean(found?.rules?.some(({ resources }) => resources?.includes(resource)));
  await until(admin.resource(ClusterRoles), { name: 'view' }, reads('configmaps'));
  await until(admin.resource(ClusterRoles), { name: 'admin' }, reads('secrets'));
});
afterAll(() => server.stop());

const attempt = 'is attempting to grant RBAC permissions not currently held';
const key = { namespace: 'default', name: 'harmless' };
const named = { name: 'harmless' };
const apply = (body: object) => ({ type: 'apply' as const, body, fieldManager: 'eve', force: true });

describe('a role with more rights than its author has is refused', () => {
  const more = [holds, wants];
  test.each<[string, () => Promise<unknown>]>([
    ['created', () => client.resource(Roles).create(role('new', more))],
    [
      'created under a generated name',
      () => client.resource(Roles).create(role('', more, { name: undefined, generateName: 'new-' })),
    ],
    ['created in a dry run', () => client.resource(Roles).create(role('new', more), { dryRun: true })],
    ['created by an update', () => client.resource(Roles).update(role('new', more))],
    ['created by an apply', () => client.resource(Roles).patch({ ...key, name: 'new' }, apply(role('new', more)))],
    ['updated', async () => client.resource(Roles).update({ ...(await current(Roles)), rules: more })],
    [
      'updated along with owners',
      async () => {
        const { metadata, ...rest } = await current(Roles);
        const ownerReferences = [{ apiVersion: 'v1', kind: 'Namespace', name: 'default', uid: 'x' }];
        return client.resource(Roles).update({ ...rest, metadata: { ...metadata, ownerReferences }, rules: more });
      },
    ],
    [
      'patched (JSON)',
      () => client.resource(Roles).patch(key, { type: 'json', body: [{ op: 'add', path: '/rules/-', value: wants }] }),
    ],
    [
      'patched (JSON, by copies)',
      () =>
        client
          .resource(Roles)
          .patch(key, { type: 'json', body: [{ op: 'replace', path: '/rules/0/resources/0', value: 'secrets' }] }),
    ],
    ['patched (merge)', () => client.resource(Roles).patch(key, { type: 'merge', body: { rules: more } })],
    ['patched (strategic)', () => client.resource(Roles).patch(key, { type: 'strategic', body: { rules: more } })],
    ['applied', () => client.resource(Roles).patch(key, apply(role('harmless', more)))],
    ['a ClusterRole, created', () => client.resource(ClusterRoles).create(clusterRole('new', more))],
    [
      'a ClusterRole, updated',
      async () => client.resource(ClusterRoles).update({ ...(await current(ClusterRoles, named)), rules: more }),
    ],
    ['a ClusterRole, applied', () => client.resource(ClusterRoles).patch(named, apply(clusterRole('harmless', more)))],
    [
      'with non-resource paths',
      () =>
        client.resource(ClusterRoles).create(clusterRole('new', [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }])),
    ],
    ['by wildcard verb', () => client.resource(Roles).create(role('new', [{ ...holds, verbs: ['*'] }]))],
    ['by wildcard group', () => client.resource(Roles).create(role('new', [{ ...holds, apiGroups: ['*'] }]))],
    ['by wildcard resource', () => client.resource(Roles).create(role('new', [{ ...holds, resources: ['*'] }]))],
    ['by a subresource', () => client.resource(Roles).create(role('new', [{ ...holds, resources: ['configmaps/x'] }]))],
    [
      'by the verb escalate',
      () => client.resource(Roles).create(role('new', [{ ...mayWrite, apiGroups: [rbacGroup], verbs: ['escalate'] }])),
    ],
    [
      'by the verb impersonate',
      () =>
        client
          .resource(ClusterRoles)
          .create(clusterRole('new', [{ verbs: ['impersonate'], apiGroups: [''], resources: ['users'] }])),
    ],
    [
      'aggregated into another role',
      () =>
        client
          .resource(ClusterRoles)
          .create(clusterRole('new', more, { metadata: { name: 'new', labels: { collect: 'me' } } })),
    ],
    [
      'that exists and becomes aggregated into another role',
      () =>
        client
          .resource(ClusterRoles)
          .patch({ name: 'wanted' }, { type: 'merge', body: { metadata: { labels: { collect: 'me' } } } }),
    ],
    [
      'aggregated into admin',
      () =>
        client.resource(ClusterRoles).create(
          clusterRole('new', more, {
            metadata: { name: 'new', labels: { [`${rbacGroup}/aggregate-to-view`]: 'true' } },
          }),
        ),
    ],
  ])('%s', async (_name, write) => {
    await expect(write()).rejects.toThrow(attempt);
  });

  test.each<[string, () => Promise<unknown>]>([
    [
      'created',
      () =>
        client
          .resource(ClusterRoles)
          .create(clusterRole('new', [], { aggregationRule: { clusterRoleSelectors: [{}] } })),
    ],
    [
      'added to a role',
      () =>
        client
          .resource(ClusterRoles)
          .patch(named, { type: 'merge', body: { aggregationRule: { clusterRoleSelectors: [{}] } } }),
    ],
    [
      'widened',
      () =>
        client
          .resource(ClusterRoles)
          .patch({ name: 'collecting' }, { type: 'merge', body: { aggregationRule: { clusterRoleSelectors: [{}] } } }),
    ],
    [
      'removed',
      () =>
        client.resource(ClusterRoles).patch({ name: 'collecting' }, { type: 'merge', body: { aggregationRule: null } }),
    ],
    [
      'applied',
      () =>
        client
          .resource(ClusterRoles)
          .patch(named, apply({ ...clusterRole('harmless', []), aggregationRule: { clusterRoleSelectors: [{}] } })),
    ],
  ])('when an aggregation is %s', async (_name, write) => {
    await expect(write()).rejects.toThrow('must have cluster-admin privileges to use the aggregationRule');
  });
});

describe('a binding to a role with more rights than its author has is refused', () => {
  const some = refTo('cluster-admin');
  const both = [eveHerself, { ...eveHerself, name: 'bob' }];
  const powerful = { namespace: 'default', name: 'powerful' };
  test.each<[string, () => Promise<unknown>]>([
    ['created', () => client.resource(RoleBindings).create(binding('new', some))],
    [
      'created under a generated name',
      () =>
        client
          .resource(RoleBindings)
          .create({ ...binding('new', some), metadata: { namespace: 'default', generateName: 'new-' } }),
    ],
    ['created by an update', () => client.resource(RoleBindings).update(binding('new', some))],
    [
      'created by an apply',
      () => client.resource(RoleBindings).patch({ ...key, name: 'new' }, apply(binding('new', some))),
    ],
    ['created as a ClusterRoleBinding', () => client.resource(ClusterRoleBindings).create(clusterBinding('new', some))],
    [
      'given a subject (merge)',
      () => client.resource(RoleBindings).patch(powerful, { type: 'merge', body: { subjects: both } }),
    ],
    [
      'given a subject (strategic)',
      () => client.resource(RoleBindings).patch(powerful, { type: 'strategic', body: { subjects: both } }),
    ],
    [
      'given a subject (JSON)',
      () =>
        client
          .resource(RoleBindings)
          .patch(powerful, { type: 'json', body: [{ op: 'add', path: '/subjects/-', value: eveHerself }] }),
    ],
    [
      'given a subject (apply)',
      () => client.resource(RoleBindings).patch(powerful, apply(binding('powerful', some, both))),
    ],
    [
      'given a subject (update)',
      async () => client.resource(RoleBindings).update({ ...(await current(RoleBindings, powerful)), subjects: both }),
    ],
    [
      'given a subject (ClusterRoleBinding)',
      () =>
        client.resource(ClusterRoleBindings).patch({ name: 'powerful' }, { type: 'merge', body: { subjects: both } }),
    ],
    ['of view, which seems harmless', () => client.resource(RoleBindings).create(binding('new', refTo('view')))],
  ])('%s', async (_name, write) => {
    await expect(write()).rejects.toThrow(attempt);
  });

  test('in place of a harmless one', async () => {
    await expect(client.resource(RoleBindings).patch(key, { type: 'merge', body: { roleRef: some } })).rejects.toThrow(
      attempt,
    );
  });

  test('to a role that does not exist yet', async () => {
    await expect(client.resource(RoleBindings).create(binding('new', refTo('later')))).rejects.toThrow(
      '"later" not found',
    );
  });

  test('for a group, or for everybody', async () => {
    for (const name of ['system:authenticated', 'system:unauthenticated']) {
      const group = { kind: 'Group', apiGroup: rbacGroup, name };
      await expect(client.resource(RoleBindings).create(binding('new', some, [group]))).rejects.toThrow(attempt);
    }
  });
});

describe('custom kinds', () => {
  const crd = (group: string, plural: string, kind: string, version = 'v1') => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, annotations: { 'api-approved.kubernetes.io': 'https://example.org' } },
    spec: {
      group,
      scope: 'Namespaced' as const,
      names: { plural, kind },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  });

  // If they were served, they could be read and written without any rule of the kind; and if they were deleted, the
  // kind's objects would be deleted, too.
  test.each([
    [rbacGroup, 'roles', 'Role', 'v1'],
    [rbacGroup, 'clusterrolebindings', 'Other', 'v2'],
    ['certificates.k8s.io', 'certificatesigningrequests', 'Other', 'v2'],
    ['certificates.kedge.internal', 'certificateledgerentries', 'Other', 'v2'],
  ])('cannot be %s %s', async (group, plural, kind, version) => {
    const created = client.resource(CustomResourceDefinitions).create(crd(group, plural, kind, version) as never);
    await expect(created).rejects.toThrow(
      `spec.names.plural: Invalid value: "${plural}": is a built-in resource of group ${group}`,
    );
  });

  test('cannot be renamed to roles', async () => {
    const crds = client.resource(CustomResourceDefinitions);
    const made = await crds.create(crd(rbacGroup, 'rolls', 'Roll', 'v2') as never);
    const acceptedNames = { plural: 'clusterroles', kind: 'Roll' };
    await expect(
      crds
        .subresource('status')
        .patch({ name: made.metadata.name ?? '' }, { type: 'merge', body: { status: { acceptedNames } } }),
    ).rejects.toThrow('status.acceptedNames.plural: Invalid value: "clusterroles": is a built-in resource');
  });

  test('that look like roles grant nothing', async () => {
    await client.resource(CustomResourceDefinitions).create(crd('example.org', 'clusterroles', 'ClusterRole') as never);
    const likeRoles = { ...ClusterRoles, group: 'example.org', namespaced: true } as ResourceType<Unstructured>;
    await until(admin.resource(CustomResourceDefinitions), { name: 'clusterroles.example.org' }, (found) =>
      Boolean(found?.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True')),
    );
    await client.resource(likeRoles).create({
      apiVersion: 'example.org/v1',
      kind: 'ClusterRole',
      metadata: { name: 'mine', namespace: 'default' },
      rules: [wants],
    });
    await expect(client.resource(RoleBindings).create(binding('new', refTo('mine')))).rejects.toThrow(
      '"mine" not found',
    );
    await expect(
      client.resource(RoleBindings).create(binding('new', { ...refTo('mine'), apiGroup: 'example.org' })),
    ).rejects.toThrow();
  });
});

test('rights in a namespace cannot be granted cluster-wide', async () => {
  await admin.resource(RoleBindings).create(binding('local-admin', refTo('admin'), [{ ...eveHerself, name: 'local' }]));
  await admin
    .resource(ClusterRoleBindings)
    .create(clusterBinding('local', refTo('eve'), [{ ...eveHerself, name: 'local' }]));
  const local = server.server.client({ username: 'local', groups: [] });
  await local.resource(Roles).create(role('mine', [wants]));
  await expect(local.resource(ClusterRoles).create(clusterRole('mine', [wants]))).rejects.toThrow(attempt);
  await expect(local.resource(ClusterRoleBindings).create(clusterBinding('mine', refTo('view')))).rejects.toThrow(
    attempt,
  );
  await expect(
    local.resource(Roles).create({ ...role('mine', [wants]), metadata: { name: 'mine', namespace: 'kube-system' } }),
  ).rejects.toThrow(attempt);
});

test('deleting and recreating a role does not get around the check', async () => {
  await client.resource(RoleBindings).create(binding('mine', refTo('harmless', 'Role')));
  await client.resource(Roles).delete(key);
  await expect(client.resource(Roles).create(role('harmless', [wants]))).rejects.toThrow(attempt);
  await expect(client.resource(Roles).deleteCollection({ namespace: 'default' })).resolves.toBeUndefined();
  await client.resource(Roles).create(role('harmless', [holds]));
});

test('certificates are approved and signed only with permission for the signer', async () => {
  const also: PolicyRule = {
    verbs: every,
    apiGroups: ['certificates.k8s.io'],
    resources: [
      'certificatesigningrequests',
      'certificatesigningrequests/approval',
      'certificatesigningrequests/status',
    ],
  };
  await admin.resource(ClusterRoles).create(clusterRole('requests', [also]));
  await admin.resource(ClusterRoleBindings).create(clusterBinding('requests', refTo('requests')));
  const requests = client.resource(CertificateSigningRequests);
  const root = { commonName: 'root', organizations: ['system:masters'] };
  const signerName = 'kubernetes.io/kube-apiserver-client';
  await expect(requests.create(await testSigningRequest({ name: 'root', signerName, ...root }))).rejects.toThrow(
    'use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
  );
  const made = await requests.create(await testSigningRequest({ name: 'bob', signerName, commonName: 'bob' }));
  const approved = { type: 'Approved', status: 'True' as const, reason: 'x', message: '' };
  const status = { conditions: [approved] };
  await expect(requests.subresource('approval').update({ ...made, status })).rejects.toThrow(
    'user not permitted to approve requests',
  );
  await expect(
    requests.subresource('approval').patch({ name: 'bob' }, { type: 'merge', body: { status } }),
  ).rejects.toThrow('user not permitted to approve requests');
  await expect(
    requests
      .subresource('status')
      .patch({ name: 'bob' }, { type: 'merge', body: { status: { conditions: [{ ...approved, type: 'Failed' }] } } }),
  ).rejects.toThrow('user not permitted to sign requests');
  await expect(
    requests.subresource('status').patch({ name: 'bob' }, { type: 'merge', body: { status: { certificate: '' } } }),
  ).rejects.toThrow('user not permitted to sign requests');
});

test('in the end the user has no more rights than before', async () => {
  await expect(client.resource(Secrets).get({ namespace: 'default', name: 'prize' })).rejects.toThrow('forbidden');
  await expect(client.resource(Secrets).list({ namespace: 'default' })).rejects.toThrow('forbidden');
});

async function current<T extends ApiObject>(
  type: ResourceType<T>,
  at: { name: string; namespace?: string } = key,
): Promise<T> {
  const found = await admin.resource<T>(type).get(at);
  if (found === undefined) throw new Error(`no ${type.plural} ${at.name}`);
  return found;
}
