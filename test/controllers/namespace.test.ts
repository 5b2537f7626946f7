import { describe, expect, test } from 'vitest';
import { deletionConditions } from '../../controllers/namespace/conditions.js';
import { emptyNamespace } from '../../controllers/namespace/empty-namespace.js';
import { namespaceController } from '../../controllers/namespace/namespace.js';
import { noSuchResource, serviceUnavailable } from '../../src/api/errors.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import type { ApiObject, ResourceType } from '../../src/api/object.js';
import type { Client, ListOptions } from '../../src/client/client.js';
import { discover } from '../../src/client/discover.js';
import { FakeClock, settled } from '../../src/testing/fake-clock.js';
import { FakeClient } from '../fake-client.js';
import { runControllers } from './run-controllers.js';

const discovered = (type: ResourceType, verbs = ['delete', 'deletecollection', 'list']) => ({
  ...type,
  verbs,
  preferred: true,
});

async function start(
  finalizers: readonly string[] = [],
  holders: readonly string[] = ['kubernetes'],
  options: Parameters<typeof namespaceController>[0] = {},
) {
  const world = await runControllers([namespaceController(options)], async (client) => {
    client.discovered = [discovered(ConfigMaps), discovered(Secrets, ['delete', 'list']), discovered(Namespaces)];
    await client.resource(Namespaces).create({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'n' },
      spec: { finalizers: holders },
      status: { phase: 'Active' },
    });
    for (const [name, held] of [
      ['a', []],
      ['b', finalizers],
    ] as const) {
      await client
        .resource(ConfigMaps)
        .create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'n', finalizers: held } });
      await client.resource(Secrets).create({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'n' } });
    }
    await client
      .resource(ConfigMaps)
      .create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'other' } });
  });
  const namespaces = world.client.resource(Namespaces);
  const conditions = async () =>
    ((await namespaces.get({ name: 'n' }))?.status?.conditions ?? []).map(
      ({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`,
    );
  return { ...world, namespaces, conditions };
}

describe('namespace controller', () => {
  test('empties the namespace only, and releases it', async () => {
    const { client, namespaces } = await start();
    await namespaces.delete({ name: 'n' });
    await settled();
    expect(await namespaces.get({ name: 'n' })).toBeUndefined();
    expect((await client.resource(ConfigMaps).list()).items.length).toBe(1);
    expect((await client.resource(Secrets).list()).items.length).toBe(0);
  });

  test('waits before deleting contents, as other servers may still be storing objects', async () => {
    const { client, clock, namespaces } = await start([], [], { settleMs: 5_000 });
    await namespaces.delete({ name: 'n' });
    await clock.advance(3_500);
    expect((await client.resource(ConfigMaps).list({ namespace: 'n' })).items).not.toEqual([]);
    await clock.advance(1_500);
    expect(await namespaces.get({ name: 'n' })).toBeUndefined();
  });

  test('empties a namespace that other finalizers hold, and keeps those', async () => {
    const { client, namespaces, conditions } = await start([], ['example.com/hold']);
    await namespaces.delete({ name: 'n' });
    await settled();
    expect((await client.resource(Secrets).list()).items.length).toBe(0);
    expect(await conditions()).toContain(
      'NamespaceContentRemaining False ContentRemoved: All content successfully removed',
    );
    expect((await namespaces.get({ name: 'n' }))?.spec?.finalizers).toEqual(['example.com/hold']);
  });

  test.each([[['b/x', 'kubernetes', 'a/x']], [['b/x', 'a/x']]])(
    'keeps other finalizers in order: %j',
    async (holders) => {
      const { namespaces } = await start([], holders);
      await namespaces.delete({ name: 'n' });
      await settled();
      expect((await namespaces.get({ name: 'n' }))?.spec?.finalizers).toEqual(['a/x', 'b/x']);
    },
  );

  test('ignores a namespace that is not being deleted', async () => {
    const { client } = await start();
    expect((await client.resource(ConfigMaps).list()).items.length).toBe(3);
    expect(client.calls.some(({ verb }) => verb === 'discover')).toBe(false);
  });

  test('reads only metadata, one page at a time', async () => {
    const clock = new FakeClock();
    const client = new FakeClient(clock);
    client.discovered = [discovered(ConfigMaps), discovered(Secrets, ['delete', 'list'])];
    for (const type of [ConfigMaps, Secrets]) {
      for (let i = 0; i < 1_100; i++) {
        const finalizers = type === ConfigMaps ? ['example.com/hold'] : [];
        const metadata = { name: `o${i}`, namespace: 'n', finalizers };
        await client.resource<ApiObject>(type).create({ apiVersion: 'v1', kind: type.kind, metadata });
      }
    }
    const asked: ListOptions[] = [];
    const watched: Client = {
      discover: (options) => client.discover(options),
      resource: (type) => {
        const resource = client.resource(type);
        return {
          ...resource,
          list: (options = {}) => {
            asked.push(options);
            return resource.list(options);
          },
        };
      },
    };
    const { remaining, finalizers, deletionFailures } = await emptyNamespace(watched, 'n');
    expect(remaining).toEqual([{ plural: 'configmaps', group: '', count: 1_100 }]);
    expect([...finalizers]).toEqual([['example.com/hold', 1_100]]);
    expect(deletionFailures).toEqual([]);
    expect((await client.resource(Secrets).list()).items).toEqual([]);
    for (const { metadataOnly, limit = Number.POSITIVE_INFINITY } of asked) {
      expect(metadataOnly).toBe(true);
      expect(limit).toBeLessThanOrEqual(500);
    }
  });

  test('reports remaining contents, and releases the namespace once they are gone', async () => {
    const { client, clock, namespaces, conditions } = await start(['example.com/hold']);
    await namespaces.delete({ name: 'n' });
    await clock.advance(1_000);
    expect(await conditions()).toEqual([
      'NamespaceDeletionDiscoveryFailure False ResourcesDiscovered: All resources successfully discovered',
      'NamespaceDeletionGroupVersionParsingFailure False ParsedGroupVersions: All legacy kube types successfully parsed',
      'NamespaceDeletionContentFailure False ContentDeleted: All content successfully deleted, may be waiting on finalization',
      'NamespaceContentRemaining True SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances',
      'NamespaceFinalizersRemaining True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
    ]);
    await client
      .resource(ConfigMaps)
      .patch({ namespace: 'n', name: 'b' }, { type: 'merge', body: { metadata: { finalizers: null } } });
    await clock.advance(5_000);
    expect(await namespaces.get({ name: 'n' })).toBeUndefined();
  });

  test('deletes other types when one type fails', async () => {
    const { client, clock, namespaces, conditions } = await start();
    client.fail = ({ verb, plural }) =>
      verb === 'deletecollection' && plural === 'configmaps' ? serviceUnavailable('no') : undefined;
    await namespaces.delete({ name: 'n' });
    await clock.advance(100);
    expect((await client.resource(Secrets).list()).items.length).toBe(0);
    expect((await conditions())[2]).toBe(
      'NamespaceDeletionContentFailure True ContentDeletionFailed: Failed to delete all resource types, 1 remaining: no',
    );
    client.fail = () => undefined;
    await clock.advance(5_000);
    expect(await namespaces.get({ name: 'n' })).toBeUndefined();
  });

  test('releases nothing while discovery fails', async () => {
    const { client, clock, namespaces, conditions } = await start();
    client.fail = ({ verb }) => (verb === 'discover' ? serviceUnavailable('no discovery') : undefined);
    await namespaces.delete({ name: 'n' });
    await clock.advance(1_000);
    expect((await conditions())[0]).toBe('NamespaceDeletionDiscoveryFailure True DiscoveryFailed: no discovery');
    expect((await client.resource(ConfigMaps).list()).items.length).toBe(3);
  });

  test('deletes the contents of other groups, and keeps a namespace while a group cannot be discovered', async () => {
    const { client, clock, namespaces, conditions } = await start();
    client.undiscovered = [
      { group: 'metrics.example.com', version: 'v2', message: 'no' },
      { group: 'metrics.example.com', version: 'v1', message: 'neither' },
    ];
    await namespaces.delete({ name: 'n' });
    await clock.advance(10_000);
    expect((await client.resource(ConfigMaps).list({ namespace: 'n' })).items).toEqual([]);
    expect((await client.resource(Secrets).list({ namespace: 'n' })).items).toEqual([]);
    expect((await conditions()).slice(0, 4)).toEqual([
      'NamespaceDeletionDiscoveryFailure True DiscoveryFailed: Discovery failed for some groups, 2 failing: unable to retrieve the complete list of server APIs: metrics.example.com/v1: neither, metrics.example.com/v2: no',
      'NamespaceDeletionGroupVersionParsingFailure False ParsedGroupVersions: All legacy kube types successfully parsed',
      'NamespaceDeletionContentFailure False ContentDeleted: All content successfully deleted, may be waiting on finalization',
      'NamespaceContentRemaining False ContentRemoved: All content successfully removed',
    ]);
    client.undiscovered = [];
    await clock.advance(5_000);
    expect(await namespaces.get({ name: 'n' })).toBeUndefined();
  });

  test('keeps a namespace until the next try when a group disappears during discovery', async () => {
    const { client, clock, namespaces, conditions } = await start();
    let groups = [{ name: 'gone.io', versions: [{ version: 'v1' }] }];
    const secrets = { name: 'secrets', kind: 'Secret', namespaced: true, verbs: ['delete', 'list'] };
    const configMaps = { ...secrets, name: 'configmaps', kind: 'ConfigMap' };
    const answers: Readonly<Record<string, () => unknown>> = {
      '/api': () => ({ kind: 'APIVersions', versions: ['v1'] }),
      '/api/v1': () => ({ kind: 'APIResourceList', resources: [configMaps, secrets] }),
      '/apis': () => ({ kind: 'APIGroupList', groups }),
    };
    const read = async (path: string): Promise<unknown> => {
      const answer = answers[path];
      if (answer === undefined) throw noSuchResource();
      return answer();
    };
    client.discover = (options) => discover(read, options);
    await namespaces.delete({ name: 'n' });
    await settled();
    expect((await conditions())[0]).toMatch(/^NamespaceDeletionDiscoveryFailure True .* gone\.io\/v1: /);
    groups = [];
    await clock.advance(5_000);
    expect(await namespaces.get({ name: 'n' })).toBeUndefined();
  });

  test('deletes pods before everything else', async () => {
    const { client, clock, namespaces, conditions } = await start();
    const Pods = { ...ConfigMaps, plural: 'pods', kind: 'Pod' };
    client.discovered = [...client.discovered, discovered(Pods)];
    client.undiscovered = [{ group: 'ill.io', version: 'v1', message: 'no' }];
    await client
      .resource(Pods)
      .create({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'n', finalizers: ['x'] } });
    await namespaces.delete({ name: 'n' });
    await clock.advance(1_000);
    expect((await client.resource(ConfigMaps).list({ namespace: 'n' })).items.length).toBe(2);
    expect((await conditions())[0]).toMatch(/^NamespaceDeletionDiscoveryFailure True /);
    client.undiscovered = [];
    await client
      .resource(Pods)
      .patch({ namespace: 'n', name: 'p' }, { type: 'merge', body: { metadata: { finalizers: null } } });
    await clock.advance(5_000);
    expect(await namespaces.get({ name: 'n' })).toBeUndefined();
  });
});

test('conditions keep their transition time while their status is unchanged', () => {
  const empty = {
    discoveryFailure: undefined,
    deletionFailures: [],
    remaining: [],
    finalizers: new Map<string, number>(),
  };
  const first = deletionConditions(undefined, empty, '2026-01-01T00:00:00Z');
  expect(deletionConditions(first, empty, '2026-01-02T00:00:00Z')).toBe(first);
  const held = deletionConditions(first, { ...empty, finalizers: new Map([['f', 2]]) }, '2026-01-02T00:00:00Z');
  expect(held.map(({ lastTransitionTime }) => lastTransitionTime?.slice(8, 10))).toEqual([
    '01',
    '01',
    '01',
    '01',
    '02',
  ]);
});
