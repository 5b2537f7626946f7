import { afterAll, beforeAll, expect, test } from 'vitest';
import { isReason } from '../../src/api/errors.js';
import { type ConfigMap, ConfigMaps } from '../../src/api/kinds/config-map.js';
import type { Patch, ResourceClient } from '../../src/client/client.js';
import { createServer, type Server } from '../../src/embed.js';
import { MemoryStore } from '../../src/store/memory/memory-store.js';
import { type Entry, type Store, type Write, WriteConflict } from '../../src/store/store.js';
import { FakeClock } from '../../src/testing/fake-clock.js';

/**
 * Counts commits that came too late, and can have another client write an object of a given name right after it is
 * read.
 */
class WatchedStore extends MemoryStore {
  tooLate = 0;
  overtake: string | undefined;

  override async get(key: string): Promise<Entry | undefined> {
    const entry = await super.get(key);
    if (entry === undefined || this.overtake === undefined || !key.endsWith(this.overtake)) return entry;
    this.overtake = undefined;
    const { bytes, revisionAt, revision } = entry;
    const end = revisionAt + String(revision).length;
    const again = { bytes: Buffer.concat([bytes.subarray(0, revisionAt), bytes.subarray(end)]), revisionAt };
    await super.commit({ key, document: again, expect: revision });
    return entry;
  }

  override async commit(write: Write): ReturnType<Store['commit']> {
    try {
      return await super.commit(write);
    } catch (error) {
      if (error instanceof WriteConflict) this.tooLate++;
      throw error;
    }
  }
}

const store = new WatchedStore();
let server: Server;
let configMaps: ResourceClient<ConfigMap>;
beforeAll(async () => {
  // No time passes, so that no request times out while it waits for its turn, however busy the machine is.
  server = await createServer({ controllers: [], store, clock: new FakeClock() });
  configMaps = server.client().resource(ConfigMaps);
});
afterAll(() => server.stop());

let count = 0;
const create = (): Promise<ConfigMap> => {
  const metadata = { name: `raced-${++count}`, namespace: 'default' };
  return configMaps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: {} });
};
const keyOf = ({ metadata }: ConfigMap) => ({ namespace: 'default', name: metadata.name ?? '' });

const patches: Readonly<Record<string, (at: number) => Patch>> = {
  json: (at) => ({ type: 'json', body: [{ op: 'add', path: `/metadata/labels/l${at}`, value: 'x' }] }),
  merge: (at) => ({ type: 'merge', body: { data: { [`k${at}`]: 'x' } } }),
  strategic: (at) => ({ type: 'strategic', body: { data: { [`k${at}`]: 'x' } } }),
  apply: (at) => ({
    type: 'apply',
    fieldManager: `manager-${at}`,
    body: { apiVersion: 'v1', kind: 'ConfigMap', data: { [`k${at}`]: 'x' } },
  }),
};

test.each(Object.entries(patches))(
  'concurrent patches without a resourceVersion all take effect: %s',
  async (type, patchOf) => {
    const created = await create();
    await configMaps.patch(keyOf(created), { type: 'merge', body: { metadata: { labels: { first: 'x' } } } });
    const everyone = Array.from({ length: 16 }, (_, at) => at);
    const { tooLate } = store;
    await Promise.all(everyone.map((at) => configMaps.patch(keyOf(created), patchOf(at))));
    // The requests take turns, so that none has to start again.
    expect(store.tooLate).toBe(tooLate);
    const found = await configMaps.get(keyOf(created));
    const members = type === 'json' ? found?.metadata.labels : found?.data;
    expect(Object.keys(members ?? {})).toEqual(
      expect.arrayContaining(everyone.map((at) => (type === 'json' ? `l${at}` : `k${at}`))),
    );
  },
);

test.each(Object.entries(patches))('a patch is computed again after a concurrent write: %s', async (type, patchOf) => {
  const created = await create();
  await configMaps.patch(keyOf(created), { type: 'merge', body: { metadata: { labels: { first: 'x' } } } });
  const { tooLate } = store;
  store.overtake = created.metadata.name;
  await configMaps.patch(keyOf(created), patchOf(1));
  expect(store.tooLate).toBe(tooLate + 1);
  const found = await configMaps.get(keyOf(created));
  expect(type === 'json' ? found?.metadata.labels?.['l1'] : found?.data?.['k1']).toBe('x');
});

test('of concurrent applies to a missing object one creates it, and the fields of all are merged', async () => {
  const everyone = Array.from({ length: 8 }, (_, at) => at);
  const key = { namespace: 'default', name: 'applied' };
  const apply = (at: number) => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: key.name }, data: { [`k${at}`]: 'x' } };
    return configMaps.patch(key, { type: 'apply', fieldManager: `manager-${at}`, body });
  };
  await Promise.all(everyone.map(apply));
  expect(Object.keys((await configMaps.get(key))?.data ?? {}).sort()).toEqual(everyone.map((at) => `k${at}`));
});

test.each([
  ['updates', (seen: ConfigMap, at: number) => configMaps.update({ ...seen, data: { at: String(at) } })],
  [
    'patches',
    (seen: ConfigMap, at: number) => {
      const { resourceVersion = '' } = seen.metadata;
      return configMaps.patch(keyOf(seen), {
        type: 'merge',
        body: { metadata: { resourceVersion }, data: { at: `${at}` } },
      });
    },
  ],
])('of concurrent %s with the same resourceVersion one succeeds and the others conflict', async (_, write) => {
  const created = await create();
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, (_, at) => write(created, at)));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') expect(isReason(outcome.reason, 'Conflict')).toBe(true);
  }
});
