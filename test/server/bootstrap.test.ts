import { expect, test } from 'vitest';
import { defaultDomains } from '../../src/api/domains.js';
import { internalError } from '../../src/api/errors.js';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import { type ClusterRole, ClusterRoles } from '../../src/api/kinds/role.js';
import {
  type ClusterRoleBinding,
  ClusterRoleBindings,
  type RoleBinding,
  RoleBindings,
} from '../../src/api/kinds/role-binding.js';
import type { ApiObject, ResourceType } from '../../src/api/object.js';
import type { Client, ResourceClient } from '../../src/client/client.js';
import { bootstrap } from '../../src/server/bootstrap.js';
import { testServer } from '../../src/testing/test-server.js';

/** Returns the same client, in which another client changes the object before each deletion or update. */
const afterAnother = (
  client: Client,
  verb: 'delete' | 'update',
  before: (type: ResourceType, object: unknown) => Promise<void>,
): Client => ({
  ...client,
  resource: <T extends ApiObject>(type: ResourceType<T>): ResourceClient<T> => {
    const resource = client.resource(type);
    return new Proxy(resource, {
      get(target, member) {
        if (member !== verb) return Reflect.get(target, member);
        return async (...given: unknown[]) => {
          await before(type, given[0]);
          return Reflect.apply(resource[verb], resource, given);
        };
      },
    });
  },
});

test.each([
  ['has deleted it', false],
  ['has recreated it', true],
])('a binding with a wrong roleRef is recreated, even if another starting server %s', async (_, made) => {
  await using server = await testServer({ controllers: [] });
  const { client } = server;
  const bindings = client.resource<RoleBinding>(RoleBindings);
  const key = { namespace: 'kube-system', name: 'system:controller:token-cleaner' };
  const found = await bindings.get(key);
  if (found === undefined) throw new Error('there is no such binding');
  const { namespace = '', name = '', labels = {}, annotations = {} } = found.metadata;
  const right = { ...found, metadata: { namespace, name, labels, annotations } };
  await bindings.delete(key);
  await bindings.create({ ...right, roleRef: { ...right.roleRef, name: 'elsewhere' } });
  let others: RoleBinding | undefined;
  const another = afterAnother(client, 'delete', async () => {
    await bindings.delete(key);
    if (made) others = await bindings.create(right);
  });
  await bootstrap(another, defaultDomains, {});
  const now = await bindings.get(key);
  expect(now?.roleRef).toEqual(right.roleRef);
  if (made) expect(now?.metadata.uid).toBe(others?.metadata.uid);
});

test('bootstrap objects have the field manager kube-apiserver', async () => {
  await using server = await testServer({ controllers: [] });
  const namespace = await server.client.resource(Namespaces).get({ name: 'default' });
  const role = await server.client.resource(ClusterRoles).get({ name: 'system:basic-user' });
  for (const object of [namespace, role]) {
    expect(object?.metadata.managedFields?.map(({ manager }) => manager)).toEqual(['kube-apiserver']);
  }
});

test('a role is completed even if somebody writes it meanwhile', async () => {
  await using server = await testServer({ controllers: [] });
  const { client } = server;
  const roles = client.resource<ClusterRole>(ClusterRoles);
  const key = { name: 'system:basic-user' };
  const found = await roles.get(key);
  if (found === undefined) throw new Error('there is no such role');
  await roles.update({ ...found, rules: [] });
  let writes = 0;
  const another = afterAnother(client, 'update', async (type) => {
    if (type.plural !== ClusterRoles.plural || ++writes > 2) return;
    await roles.patch(key, { type: 'merge', body: { metadata: { labels: { note: String(writes) } } } });
  });
  await bootstrap(another, defaultDomains, {});
  const now = await roles.get(key);
  const resources = (role: ClusterRole | undefined) => (role?.rules ?? []).flatMap((rule) => rule.resources).sort();
  expect([resources(now), now?.metadata.labels?.['note'], writes]).toEqual([resources(found), '2', 3]);
});

test('a write that fails otherwise is not retried', async () => {
  await using server = await testServer({ controllers: [] });
  const roles = server.client.resource<ClusterRole>(ClusterRoles);
  await roles.patch({ name: 'system:basic-user' }, { type: 'merge', body: { rules: [] } });
  let writes = 0;
  const failing = afterAnother(server.client, 'update', async () => {
    writes++;
    throw internalError('no room');
  });
  await expect(bootstrap(failing, defaultDomains, {})).rejects.toThrow('no room');
  expect(writes).toBe(1);
});

test('a binding that is stuck in deletion does not prevent a start', async () => {
  await using server = await testServer({ controllers: [] });
  const { client } = server;
  const bindings = client.resource<ClusterRoleBinding>(ClusterRoleBindings);
  const key = { name: 'system:discovery' };
  const found = await bindings.get(key);
  if (found === undefined) throw new Error('there is no such binding');
  await bindings.delete(key);
  const metadata = { ...key, finalizers: ['x.example/y'] };
  await bindings.create({ ...found, metadata, roleRef: { ...found.roleRef, name: 'view' } });
  await bootstrap(client, defaultDomains, {});
  expect((await bindings.get(key))?.metadata.deletionTimestamp).toBeDefined();
  await bootstrap(client, defaultDomains, {});
  await bindings.patch(key, { type: 'merge', body: { metadata: { finalizers: null } } });
  await bootstrap(client, defaultDomains, {});
  expect((await bindings.get(key))?.roleRef).toEqual(found.roleRef);
});
