import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { StoredObjects } from '../../src/apiserver/stored-objects.js';
import { storageKey } from '../../src/registry/keys.js';
import { Observable, type Subscriber } from '../../src/runtime/observable.js';
import { TurnTaking } from '../../src/runtime/turn-taking.js';
import { document } from '../../src/store/document.js';
import { MemoryStore } from '../../src/store/memory/memory-store.js';
import { type Change, HistoryCompacted, type Revision, type Store, StoreClosed } from '../../src/store/store.js';
import { StoreUnavailable } from '../../src/store/store-unavailable.js';
import { FakeClock } from '../../src/testing/fake-clock.js';

test('a list reflects the latest write in order, and earlier lists do not change', async () => {
  const change = fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), isPut: fc.boolean(), isAsked: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 20 }), async (changes) => {
      const store = new MemoryStore();
      const objects = new StoredObjects(store);
      const there = new Map<string, number>();
      const texts = async () => (await objects.list(ConfigMaps)).map(({ data }) => data?.['at']);
      let handedOut = await objects.list(ConfigMaps);
      let copy = [...handedOut];
      for (const [at, { name, isPut, isAsked }] of changes.entries()) {
        const key = storageKey(ConfigMaps, { namespace: 'ns', name });
        const expected = (await store.get(key))?.revision ?? ('absent' as const);
        if (isPut) {
          const more = name === 'b' ? 'x'.repeat(70_000) : '';
          await store.commit({
            key,
            document: document({ metadata: {}, data: { at: `${name}${at}`, more } }),
            expect: expected,
          });
          there.set(name, at);
        } else if (expected !== 'absent') {
          await store.commit({ key, document: undefined, expect: expected });
          there.delete(name);
        }
        expect(handedOut).toEqual(copy);
        if (!isAsked) continue;
        expect(await texts()).toEqual([...there].sort().map(([known, when]) => `${known}${when}`));
        handedOut = await objects.list(ConfigMaps);
        copy = [...handedOut];
        expect(await objects.list(ConfigMaps)).toBe(handedOut);
      }
      await store.close();
    }),
  );
});

test('many objects are read in turns, and objects added meanwhile are included', async () => {
  const store = new MemoryStore();
  const put = (name: string) =>
    store.commit({
      key: storageKey(ConfigMaps, { namespace: 'ns', name }),
      document: document({ metadata: { name } }),
      expect: 'absent',
    });
  for (const name of ['a', 'b', 'c']) await put(name);
  vi.spyOn(TurnTaking.prototype, 'isDue', 'get').mockReturnValue(true);
  const next = vi.spyOn(TurnTaking.prototype, 'next').mockImplementation(async () => {
    if (next.mock.calls.length === 2) await put('d');
  });
  const list = await new StoredObjects(store).list(ConfigMaps);
  expect(next).toHaveBeenCalledTimes(3);
  expect(list.map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c', 'd']);
  vi.restoreAllMocks();
  await store.close();
});

test('after the change stream fails the store is read again as soon as that is possible', async () => {
  const clock = new FakeClock();
  const store = new MemoryStore();
  const put = (at: string, expect: Revision | 'absent') =>
    store.commit({
      key: storageKey(ConfigMaps, { namespace: 'ns', name: 'a' }),
      document: document({ metadata: {}, at }),
      expect,
    });
  const streams: Subscriber<Change>[] = [];
  let failures = 0;
  const shaky = {
    async scan(prefix: string) {
      if (failures-- > 0) throw new StoreUnavailable('away');
      return store.scan(prefix);
    },
    changes: () => new Observable<Change>((subscriber) => void streams.push(subscriber)),
  } as object as Store;
  const first = await put('1', 'absent');
  const told: unknown[] = [];
  await new StoredObjects(shaky, { clock }).follow(ConfigMaps, (objects) => told.push(objects));
  failures = 2;
  await put('2', first.revision);
  streams[0]?.error(new HistoryCompacted(1n, 2n));
  await clock.advance(2_000);
  expect(told).toEqual([[{ metadata: {}, at: '1' }], [{ metadata: {}, at: '2' }]]);
  expect(streams).toHaveLength(2);
  streams[1]?.error(new StoreClosed('closed'));
  await clock.advance(0);
  expect(clock.sleeping).toBe(0);
});

test.each([
  ['not JSON', Buffer.from('garbage')],
  ['not an object', Buffer.from('5')],
  ['without metadata', Buffer.from('{"a":1}')],
  ['large and not JSON', Buffer.from(`{${'x'.repeat(70_000)}`)],
])('a document that is %s counts as absent, and the others as present', async (_, bytes) => {
  const store = new MemoryStore();
  const key = (name: string): string => storageKey(ConfigMaps, { namespace: 'ns', name });
  const put = (name: string, written: ReturnType<typeof document>) =>
    store.commit({ key: key(name), document: written, expect: 'absent' });
  const good = document({ metadata: { name: 'good' } });
  const bad = { bytes, revisionAt: -1 };
  await put('a', bad);
  await put('b', good);
  const objects = new StoredObjects(store);
  const count = async (): Promise<number> => (await objects.list(ConfigMaps)).length;
  expect(await count()).toBe(1);
  await put('c', bad);
  await put('d', good);
  expect(await count()).toBe(2);
  const { revision } = (await store.get(key('b'))) ?? { revision: 0n };
  await store.commit({ key: key('b'), document: bad, expect: revision });
  expect(await count()).toBe(1);
  await store.close();
});
