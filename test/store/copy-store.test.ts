import { expect, test } from 'vitest';
import { createServer } from '../../src/embed.js';
import { checkFinished, copyStore } from '../../src/store/copy-store.js';
import { document } from '../../src/store/document.js';
import { MemoryStore } from '../../src/store/memory/memory-store.js';
import { HistoryCompacted, type Store, StoreClosed } from '../../src/store/store.js';
import { changeBatches } from '../../src/testing/change-batches.js';
import { versioned } from './versioned.js';

async function put(store: Store, key: string, text = key): Promise<void> {
  const now = await store.get(key);
  await store.commit({ key, document: versioned(text), expect: now?.revision ?? 'absent' });
}

/** Returns a store with 600 entries, some written several times, and some deleted ones. */
async function filled(): Promise<MemoryStore> {
  const store = new MemoryStore();
  for (let number = 0; number < 800; number++) await put(store, `/k/${number % 610}`);
  for (let number = 0; number < 10; number++) {
    const entry = await store.get(`/k/${number}`);
    await store.commit({ key: `/k/${number}`, document: undefined, expect: entry?.revision ?? 0n });
  }
  await store.commit({ key: '/plain', document: document({ a: [1.5, null] }), expect: 'absent' });
  return store;
}

const begun = async (from: Store): Promise<MemoryStore> => new MemoryStore({ after: (await from.revision()) + 1n });
const copied = async (from: Store, to: Store): Promise<number> => copyStore(from, to, await from.revision());
const contents = async (store: Store) => (await store.scan('')).entries.map(({ key, value }) => [key, value]);
const texts = async (store: Store) =>
  (await contents(store)).map(([key, value]) => [key, (value as { text?: string }).text]);

test('a copy has every current entry, each with a revision after the last one of the source', async () => {
  const from = await filled();
  const last = await from.revision();
  const to = await begun(from);
  expect(await copied(from, to)).toBe(601);
  expect(await texts(to)).toEqual(await texts(from));
  const { entries } = await to.scan('/k/');
  for (const { revision, value } of entries) {
    expect(revision).toBeGreaterThan(last);
    expect(value).toMatchObject({ version: String(revision) });
  }
  expect((await to.get('/plain'))?.value).toEqual({ a: [1.5, null] });
});

test('a client that resumes from a revision of the source is told to list again', async () => {
  const from = await filled();
  const last = await from.revision();
  const to = await begun(from);
  await copied(from, to);
  await expect(changeBatches(to.changes('', last)).next()).rejects.toThrow(HistoryCompacted);
  await expect(to.scan('', { at: last })).rejects.toThrow(HistoryCompacted);
});

test('a retried copy leaves what an earlier attempt copied as it is', async () => {
  const from = await filled();
  const to = await begun(from);
  let left = 100;
  const failing: Store = Object.assign(Object.create(to) as Store, {
    commit: async (write: Parameters<Store['commit']>[0]) => {
      if (left-- <= 0) throw new StoreClosed('closed for good', { cause: new Error('no room') });
      return to.commit(write);
    },
  });
  Object.assign(failing, { revision: () => to.revision(), scan: to.scan.bind(to), get: to.get.bind(to) });
  await expect(copied(from, failing)).rejects.toThrow(/^\/k\/\d+ cannot be written there: no room$/);
  const half = await to.revision();
  await expect(checkFinished(to)).rejects.toThrow('the store is an interrupted copy');
  expect(await copied(from, to)).toBe(601);
  expect(await texts(to)).toEqual(await texts(from));
  expect(await to.revision()).toBe(half + 503n);
  await checkFinished(to);
});

test('an interrupted copy is neither copied further nor served', async () => {
  const from = await filled();
  const to = await begun(from);
  to.commit = async (write) => {
    if (write.key === '/k/300') throw new Error('no room');
    return MemoryStore.prototype.commit.call(to, write);
  };
  await expect(copied(from, to)).rejects.toThrow('no room');
  await expect(copied(to, await begun(to))).rejects.toThrow('the store is an interrupted copy');
  await expect(createServer({ store: to })).rejects.toThrow('the store is an interrupted copy');
});

test.each<[string, (to: MemoryStore) => Promise<void>, string]>([
  ['another value', (to) => put(to, '/k/77', 'other'), 'it already contains other data, such as /k/77'],
  ['another key', (to) => put(to, '/other'), 'it already contains other data, such as /other'],
])('nothing is written to a target that has %s', async (_, prepare, why) => {
  const from = await filled();
  const to = await begun(from);
  await prepare(to);
  const before = await contents(to);
  await expect(copied(from, to)).rejects.toThrow(why);
  expect(await contents(to)).toEqual(before);
});

test('a target whose revisions are not past those of the source is refused', async () => {
  const from = await filled();
  await expect(copied(from, new MemoryStore())).rejects.toThrow('its revisions are not past 811');
  await expect(copied(from, new MemoryStore({ after: 811n }))).rejects.toThrow('its revisions are not past 811');
  const equal = new MemoryStore({ after: 700n });
  await put(equal, '/k/77');
  for (let number = 0; number < 200; number++) await put(equal, '/other');
  const other = await equal.get('/other');
  await equal.commit({ key: '/other', document: undefined, expect: other?.revision ?? 0n });
  await expect(copied(from, equal)).rejects.toThrow('it already contains other data, such as /k/77');
});

test.each<[string, (from: MemoryStore) => Promise<void>]>([
  ['an added entry', (from) => put(from, '/new')],
  ['a changed value', (from) => put(from, '/k/200', 'other')],
  [
    'a removed entry',
    async (from) => {
      const entry = await from.get('/k/200');
      await from.commit({ key: '/k/200', document: undefined, expect: entry?.revision ?? 0n });
    },
  ],
])('a source that has %s at the end of the copy makes it fail', async (_, change) => {
  const from = await filled();
  const revision = await from.revision();
  const to = await begun(from);
  await change(from);
  await expect(copyStore(from, to, revision)).rejects.toThrow('the source was written to meanwhile');
});

test('a concurrent write to the target makes the copy fail', async () => {
  const from = await filled();
  const to = await begun(from);
  const commit = to.commit.bind(to);
  let others: Promise<unknown> | undefined;
  to.commit = async (write) => {
    others ??= commit({ key: '/own', document: document(1), expect: 'absent' });
    await others;
    return commit(write);
  };
  await expect(copied(from, to)).rejects.toThrow('it was written to by someone else meanwhile');
});
