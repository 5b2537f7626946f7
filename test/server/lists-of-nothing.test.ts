import { expect, test } from 'vitest';
import { Pods } from '../../src/api/kinds/pod.js';
import { type Role, Roles } from '../../src/api/kinds/role.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { testServer } from '../../src/testing/test-server.js';

/** The stored form does not distinguish an empty list from an absent one, as in protocol buffers. */
test('writing empty lists again changes nothing', async () => {
  const clock = new FakeClock();
  await using server = await testServer({ clock });
  const { client } = server;
  const roles = client.resource<Role>(Roles);
  const key = { namespace: 'default', name: 'empty' };
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: key, rules: [] };
  const applied = await roles.patch(key, { type: 'apply', body: role, fieldManager: 'm' });
  await clock.advance(2_000);
  const again = await roles.patch(key, { type: 'apply', body: role, fieldManager: 'm' });
  expect(again.metadata.resourceVersion).toBe(applied.metadata.resourceVersion);
  const updated = await roles.update({ ...again, rules: [] });
  await clock.advance(2_000);
  expect((await roles.update({ ...updated, rules: [] })).metadata.resourceVersion).toBe(
    updated.metadata.resourceVersion,
  );

  const pods = client.resource(Pods);
  const spec = {
    serviceAccountName: 'default',
    containers: [{ name: 'c', image: 'i' }],
    volumes: [{ name: 'v', projected: { sources: [] } }],
  };
  const pod = await pods.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name: 'p' },
    spec,
  });
  const volumes = (pod.spec?.volumes ?? []).map((volume) =>
    volume.name === 'v' ? { ...volume, projected: { defaultMode: 420, sources: [] } } : volume,
  );
  const same = await pods.update({ ...pod, spec: { ...pod.spec, volumes } });
  expect([same.metadata.resourceVersion, same.metadata.generation]).toEqual([
    pod.metadata.resourceVersion,
    pod.metadata.generation,
  ]);
});

test('releasing an object that is being deleted is answered with the object sent', async () => {
  await using server = await testServer({ controllers: [] });
  const roles = server.client.resource<Role>(Roles);
  const key = { namespace: 'default', name: 'held' };
  const kind = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', rules: [] };
  const finalizers = ['x.example/y'];
  const held = { ...kind, metadata: { ...key, finalizers } };
  await roles.create(held);
  await roles.delete(key);
  expect((await roles.get(key))?.rules).toBe(null);
  expect((await roles.update({ ...kind, metadata: key })).rules).toEqual([]);
  await roles.patch(key, { type: 'apply', body: held, fieldManager: 'm' });
  await roles.delete(key);
  const released = await roles.patch(key, { type: 'apply', body: { ...kind, metadata: key }, fieldManager: 'm' });
  expect(released.rules).toEqual([]);
});
