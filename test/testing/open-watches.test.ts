import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { openObjectCache } from '../../src/client/object-cache.js';
import { connect, type RemoteClient } from '../../src/client/remote-client.js';
import { MemoryStore } from '../../src/store/memory/memory-store.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { type TestServer, testServer } from '../../src/testing/test-server.js';
import { eventually } from '../../src/testing/until.js';

let kit: TestServer;
let asked: string[];
let clock: FakeClock;
let remote: RemoteClient;
beforeEach(async () => {
  // Late requests to the server of the previous test do not count.
  const mine: string[] = [];
  asked = mine;
  clock = new FakeClock();
  kit = await testServer({
    clock,
    controllers: [],
    listen: { port: 0 },
    intercept: ({ user, verb, resource }) => {
      if (user.username === 'kubernetes-admin' && resource === 'configmaps') mine.push(verb);
    },
  });
  remote = await connect({ kubeconfigText: kit.server.adminKubeconfig, clock });
});
afterEach(async () => {
  remote.close();
  await kit.stop();
});

const create = (name: string) =>
  kit.client
    .resource(ConfigMaps)
    .create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name } });

/** Opens a cache, and records its changes. */
async function cached(client: Pick<RemoteClient, 'resource' | 'discover'>) {
  const stopping = new AbortController();
  const cache = openObjectCache(client, ConfigMaps, { signal: stopping.signal, clock });
  await cache.synced;
  await eventually(
    () => asked.includes('watch'),
    (isOpen) => isOpen,
  );
  return { names: () => cache.list().map(({ metadata }) => metadata.name), stop: () => stopping.abort() };
}

const places: readonly (readonly [string, () => Pick<RemoteClient, 'resource' | 'discover'>])[] = [
  ['in process', () => kit.server.client()],
  ['over HTTP', () => remote],
];

test.each(places)('after watches end, a client that watches %s resumes where it was', async (_, client) => {
  const { names, stop } = await cached(client());
  await create('a');
  await eventually(names, (found) => found.includes('a'));
  kit.endWatches();
  await create('b');
  await eventually(
    async () => {
      await clock.advance(100);
      return names();
    },
    (found) => found.includes('b'),
  );
  expect(asked).toEqual(['list', 'watch', 'watch']);
  stop();
});

test.each(places)('after the history is compacted, a client that watches %s lists again', async (_, client) => {
  const { names, stop } = await cached(client());
  await kit.compact();
  await create('a');
  // No time needs to pass: a client lists again immediately when the server no longer has its history.
  await eventually(names, (found) => found.includes('a'));
  expect(asked.slice(0, 3)).toEqual(['list', 'watch', 'list']);
  stop();
});

test('after compaction, old resource versions and continue tokens are expired', async () => {
  await create('a');
  await create('b');
  const maps = kit.client.resource(ConfigMaps);
  const { metadata } = await maps.list({ namespace: 'default', limit: 1 });
  const version = (await maps.list()).metadata.resourceVersion;
  await kit.compact();
  const { continue: next } = metadata;
  await expect(maps.list({ namespace: 'default', continue: next })).rejects.toMatchObject({ reason: 'Expired' });
  const watched = new Promise((next, error) => maps.watch({ resourceVersion: version }).subscribe({ next, error }));
  await expect(watched).rejects.toMatchObject({ reason: 'Expired', code: 410 });
  await Promise.all([kit.compact(), kit.compact()]);
  await create('c');
  expect((await maps.list({ namespace: 'default' })).items).toHaveLength(3);
});

test('compacting a custom store that has no method for it fails with a clear message', async () => {
  const memory = new MemoryStore();
  const store = {
    get: memory.get.bind(memory),
    scan: memory.scan.bind(memory),
    commit: memory.commit.bind(memory),
    changes: memory.changes.bind(memory),
    revision: memory.revision.bind(memory),
    close: memory.close.bind(memory),
  };
  await using other = await testServer({ controllers: [], store });
  await expect(other.compact()).rejects.toThrow('the store of this test has no method compact');
});
