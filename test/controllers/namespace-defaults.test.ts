import { describe, expect, test } from 'vitest';
import { rootCaPublisher } from '../../controllers/root-ca-publisher/root-ca-publisher.js';
import { serviceAccountController } from '../../controllers/service-account/service-account.js';
import { forbidden } from '../../src/api/errors.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import { ServiceAccounts } from '../../src/api/kinds/service-account.js';
import type { Runnable } from '../../src/controller/controller.js';
import { settled } from '../../src/testing/fake-clock.js';
import type { FakeClient } from '../fake-client.js';
import { runControllers } from './run-controllers.js';

const key = { namespace: 'n', name: 'kube-root-ca.crt' };
const account = { namespace: 'n', name: 'default' };
const createNamespace = (client: FakeClient, name = 'n', more: object = {}) =>
  client
    .resource(Namespaces)
    .create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name }, status: { phase: 'Active' }, ...more });

const cases: readonly {
  readonly make: () => Runnable;
  readonly plural: string;
  read(client: FakeClient): Promise<unknown>;
  remove(client: FakeClient): Promise<void>;
}[] = [
  {
    make: () => rootCaPublisher({ rootCa: () => 'PEM' }),
    plural: 'configmaps',
    read: (client) => client.resource(ConfigMaps).get(key),
    remove: (client) => client.resource(ConfigMaps).delete(key),
  },
  {
    make: serviceAccountController,
    plural: 'serviceaccounts',
    read: (client) => client.resource(ServiceAccounts).get(account),
    remove: (client) => client.resource(ServiceAccounts).delete(account),
  },
];

describe.each(cases)('$plural', ({ make, plural, read, remove }) => {
  test('every namespace gets one, old and new', async () => {
    const { client } = await runControllers([make()], (api) => createNamespace(api));
    expect(await read(client)).toBeDefined();
    await createNamespace(client, 'later');
    await settled();
    expect(client.writes.filter((write) => write.includes(plural)).length).toBe(2);
  });

  test('a deleted one is recreated', async () => {
    const { client } = await runControllers([make()], (api) => createNamespace(api));
    await remove(client);
    await settled();
    expect(await read(client)).toBeDefined();
  });

  test('a terminating namespace is left alone', async () => {
    const { client } = await runControllers([make()], (api) =>
      createNamespace(api, 'n', { status: { phase: 'Terminating' } }),
    );
    expect(await read(client)).toBeUndefined();
  });

  test('a namespace that is deleted meanwhile causes no error', async () => {
    const { client, complaints } = await runControllers([make()], async (api) => {
      await createNamespace(api);
      const causes = [{ reason: 'NamespaceTerminating', message: 'going', field: 'metadata.namespace' }];
      api.fail = ({ verb }) => (verb === 'create' ? forbidden({ group: '', plural }, 'going', causes) : undefined);
    });
    expect(complaints).toEqual([]);
    expect(client.writes.length).toBe(2);
  });
});

describe('root-ca-publisher', () => {
  test('repairs contents and description, and keeps other metadata', async () => {
    const { client } = await runControllers([rootCaPublisher({ rootCa: () => 'PEM' })], (api) => createNamespace(api));
    const found = await client.resource(ConfigMaps).get(key);
    if (found === undefined) throw new Error('not published');
    const labelled = {
      ...found,
      metadata: { ...found.metadata, labels: { a: 'b' }, annotations: { c: 'd' } },
      data: { more: 'x' },
    };
    await client.resource(ConfigMaps).update(labelled);
    await settled();
    const repaired = await client.resource(ConfigMaps).get(key);
    expect(repaired?.data).toEqual({ 'ca.crt': 'PEM' });
    expect(repaired?.metadata.labels).toEqual({ a: 'b' });
    expect(Object.keys(repaired?.metadata.annotations ?? {}).sort()).toEqual(['c', 'kubernetes.io/description']);
  });

  test('a new CA is published to every namespace', async () => {
    let pem = 'old';
    const { client, clock } = await runControllers([rootCaPublisher({ rootCa: () => pem, refreshMs: 1_000 })], (api) =>
      createNamespace(api),
    );
    pem = 'new';
    await clock.advance(1_000);
    expect((await client.resource(ConfigMaps).get(key))?.data).toEqual({ 'ca.crt': 'new' });
  });
});
