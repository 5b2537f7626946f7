import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { ApiError } from '../../../src/api/errors.js';
import { readListParameters } from '../../../src/api/options.js';
import { writeContinue } from '../../../src/apiserver/continue-token.js';
import { decodeEntry } from '../../../src/apiserver/entry-codec.js';
import type { ListResult } from '../../../src/apiserver/request.js';
import { deleteCollection } from '../../../src/apiserver/verbs/delete-collection.js';
import { listObjects } from '../../../src/apiserver/verbs/list.js';
import type { RequestContext } from '../../../src/registry/resource-definition.js';
import { TurnTaking } from '../../../src/runtime/turn-taking.js';
import { MemoryStore } from '../../../src/store/memory/memory-store.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { collection, definition, partsOf, type Query } from './collection.js';

const labelOf = (list: ListResult): readonly string[] =>
  list.entries.map((entry) => {
    const { name, labels } = decodeEntry(definition, entry).metadata;
    return `${name}=${labels?.['l'] ?? ''}@${entry.revision}`;
  });

const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
const write = fc.tuple(name, fc.constantFrom('x', 'y', undefined));
type Write = readonly [string, string | undefined];

test('pages show one state despite writes, and continue from the latest state once theirs is compacted', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(write, { minLength: 1, maxLength: 12 }),
      fc.array(fc.record({ writes: fc.array(write, { maxLength: 4 }), forget: fc.boolean() }), { maxLength: 10 }),
      fc.integer({ min: 1, max: 4 }),
      fc.constantFrom<Query>(
        {},
        { labelSelector: 'l=x' },
        { labelSelector: 'l!=x', fieldSelector: 'metadata.name!=c' },
      ),
      async (before, between, limit, selector) => {
        const clock = new FakeClock();
        const store = new MemoryStore({ clock });
        const api = collection(store, clock);
        const apply = async (writes: readonly Write[]): Promise<void> => {
          for (const [of, value] of writes) {
            if (value === undefined) await api.remove('n', of);
            else await api.put('n', of, { l: value });
          }
        };
        await apply(before);
        const whole = await api.list(selector, 'n');
        let page = await api.list({ ...selector, limit: String(limit) }, 'n');
        const seen = [...labelOf(page)];
        let consistent = true;
        for (let at = 0; page.continue !== undefined; at++) {
          expect(page.entries.length).toBeLessThanOrEqual(limit);
          const shown = page.remainingItemCount;
          if (consistent && shown !== undefined) expect(shown).toBe(whole.entries.length - seen.length);
          const { writes = [], forget = false } = between[at] ?? {};
          await apply(writes);
          const now = await store.revision();
          if (forget) await store.compact(now);
          const next: Query = { ...selector, limit: String(limit), continue: page.continue };
          const forgotten = forget && now > BigInt(page.resourceVersion);
          if (forgotten) {
            const error = await api.list(next, 'n').then(
              () => undefined,
              (thrown: unknown) => thrown,
            );
            expect(error).toBeInstanceOf(ApiError);
            const status = (error as ApiError).toStatus();
            expect([status.code, status.reason]).toEqual([410, 'Expired']);
            consistent = false;
            page = await api.list({ ...next, continue: status.metadata.continue ?? '' }, 'n');
          } else page = await api.list(next, 'n');
          if (consistent) expect(page.resourceVersion).toBe(whole.resourceVersion);
          seen.push(...labelOf(page));
        }
        const names = seen.map((text) => text.split('=')[0] ?? '');
        expect(names).toEqual([...new Set(names)].sort());
        if (consistent) expect(seen).toEqual(labelOf(whole));
        await store.close();
      },
    ),
    { numRuns: 150 },
  );
});

test.each<[string, Query, readonly string[] | string]>([
  ['exactly at a version', { resourceVersion: '2', resourceVersionMatch: 'Exact' }, ['a=x@1', 'b=x@2']],
  ['not older than a version', { resourceVersion: '2', resourceVersionMatch: 'NotOlderThan' }, ['a=x@1', 'b=y@3']],
  ['not older than a version, by default', { resourceVersion: '2' }, ['a=x@1', 'b=y@3']],
  [
    'not older than a version, with a limit',
    { resourceVersion: '2', resourceVersionMatch: 'NotOlderThan', limit: '5' },
    ['a=x@1', 'b=y@3'],
  ],
  ['a version with a limit means that exact version', { resourceVersion: '2', limit: '5' }, ['a=x@1', 'b=x@2']],
  ['resourceVersion 0 ignores the limit', { resourceVersion: '0', limit: '1' }, ['a=x@1', 'b=y@3']],
  ['a zero written differently keeps the limit', { resourceVersion: '00', limit: '1' }, ['a=x@1']],
  [
    'a compacted version is refused',
    { resourceVersion: '1', resourceVersionMatch: 'Exact' },
    'The resourceVersion for the provided list is too old.',
  ],
  ['a future version times out', { resourceVersion: '9' }, 'Timeout: Too large resource version: 9, current: 3'],
  [
    'a continue token of a future version times out',
    { continue: writeContinue({ revision: 9n, after: 'n/a' }) },
    'Timeout: Too large resource version: 9, current: 3',
  ],
])('a list: %s', async (_, query, wanted) => {
  const clock = new FakeClock();
  const store = new MemoryStore({ clock });
  const api = collection(store, clock);
  await api.put('n', 'a', { l: 'x' });
  await api.put('n', 'b', { l: 'x' });
  await api.put('n', 'b', { l: 'y' });
  await store.compact(2n);
  const answer = api.list(query).then(labelOf, (error: Error) => error.message);
  await clock.advance(5_000);
  expect(await answer).toEqual(wanted);
});

test('pages cover all namespaces, and the last has no remaining count', async () => {
  const store = new MemoryStore();
  const api = collection(store, new FakeClock());
  for (const namespace of ['m', 'n']) for (const name of ['a', 'b']) await api.put(namespace, name);
  const pages: ListResult[] = [];
  for (let more: Query | undefined = {}; more !== undefined && pages.length < 5; ) {
    const page: ListResult = await api.list({ limit: '1', ...more });
    pages.push(page);
    more = page.continue === undefined ? undefined : { continue: page.continue };
  }
  expect(pages.flatMap(labelOf)).toEqual(['a=@1', 'b=@2', 'a=@3', 'b=@4']);
  expect(pages.map(({ remainingItemCount }) => remainingItemCount)).toEqual([3, 2, 1, undefined]);
  await store.close();
});

test.each([
  ['n/b\0', ['c', 'd']],
  ['/n/b', ['b', 'c', 'd']],
  ['n/bb', ['c', 'd']],
  ['n', ['a', 'b', 'c', 'd']],
  ['/', ['a', 'b', 'c', 'd']],
  ['n/z', []],
])('a list continues at the key of its token (%j)', async (start, names) => {
  const clock = new FakeClock();
  const store = new MemoryStore({ clock });
  const api = collection(store, clock);
  for (const name of ['a', 'b', 'c', 'd']) await api.put('n', name);
  const token = Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: 4, start })).toString('base64url');
  expect(labelOf(await api.list({ continue: token })).map((text) => text[0])).toEqual(names);
  await store.close();
});

test.each<[string, Query, string, readonly string[]]>([
  ['an object by name', { fieldSelector: 'metadata.name=a', limit: '1' }, 'n', ['a=x@1']],
  [
    'an object at a version, with a limit that has no effect',
    { fieldSelector: 'metadata.name=a', resourceVersion: '3', limit: '1' },
    'n',
    ['a=w@5'],
  ],
  [
    'an object exactly at a version',
    { fieldSelector: 'metadata.name=a', resourceVersion: '3', resourceVersionMatch: 'Exact', limit: '1' },
    'n',
    ['a=x@1'],
  ],
  [
    'an object selected by name and namespace',
    { fieldSelector: 'metadata.name=a,metadata.namespace=n', resourceVersion: '3', limit: '1' },
    '',
    ['a=w@5'],
  ],
  ['an impossible namespace', { fieldSelector: 'metadata.name=a,metadata.namespace=N/' }, '', []],
  ['a name that is only a prefix', { fieldSelector: 'metadata.name=b', limit: '1' }, 'n', []],
  ['an object with other labels', { fieldSelector: 'metadata.name=a', labelSelector: 'l=y' }, 'n', []],
  ['two names at once', { fieldSelector: 'metadata.name=a,metadata.name=bb' }, 'n', []],
  ['one object in each namespace', { fieldSelector: 'metadata.name=a' }, '', ['a=x@1', 'a=z@4']],
])('a list by name has no second page: %s', async (_, query, namespace, wanted) => {
  const clock = new FakeClock();
  const store = new MemoryStore({ clock });
  const api = collection(store, clock);
  for (const [where, called, l] of [
    ['n', 'a', 'x'],
    ['n', 'aa', 'y'],
    ['n', 'bb', 'y'],
    ['o', 'a', 'z'],
    ['n', 'a', 'w'],
  ] as const) {
    if (l !== 'w' || query['resourceVersion'] !== undefined) await api.put(where, called, { l });
  }
  const list = await api.list(query, namespace);
  expect([labelOf(list), list.continue, list.remainingItemCount]).toEqual([wanted, undefined, undefined]);
});

test('pages continued after compaction show one state again', async () => {
  const clock = new FakeClock();
  const store = new MemoryStore({ clock });
  const api = collection(store, clock);
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await api.put('n', name);
  const first = await api.list({ limit: '1' }, 'n');
  await api.put('n', 'a', { l: 'x' });
  await store.compact(await store.revision());
  const gone = (await api
    .list({ limit: '1', continue: first.continue ?? '' }, 'n')
    .catch((error: unknown) => error)) as ApiError;
  const second = await api.list({ limit: '2', continue: gone.toStatus().metadata.continue ?? '' }, 'n');
  await api.remove('n', 'e');
  await api.put('n', 'da');
  const third = await api.list({ limit: '9', continue: second.continue ?? '' }, 'n');
  expect([second, third].map((page) => page.entries.map(({ key }) => key.at(-1)))).toEqual([
    ['b', 'c'],
    ['d', 'e', 'f'],
  ]);
  expect(third.resourceVersion).toBe(second.resourceVersion);
  await store.close();
});

test('a list of one name with a limit does not wait for a future version', async () => {
  const clock = new FakeClock();
  const store = new MemoryStore({ clock });
  const api = collection(store, clock);
  await api.put('n', 'a');
  const asking = api.list({ limit: '1', resourceVersion: '9', fieldSelector: 'metadata.name=a' }, 'n');
  await expect(asking).rejects.toMatchObject({
    code: 504,
    message: 'Timeout: Too large resource version: 9, current: 1',
  });
  expect(clock.now()).toBe(new FakeClock().now());
  await store.close();
});

test('a list and a deletion of a collection stop when the caller disconnects', async () => {
  vi.spyOn(TurnTaking.prototype, 'isDue', 'get').mockReturnValue(true);
  const store = new MemoryStore();
  const clock = new FakeClock();
  for (const name of ['a', 'b', 'c']) await collection(store, clock).put('n', name);
  const caller = new AbortController();
  // The caller disconnects at the second turn for other work.
  let turns = 0;
  vi.spyOn(TurnTaking.prototype, 'next').mockImplementation(async () => {
    if (++turns === 2) caller.abort(new Error('gone'));
  });
  const target = { definition, namespace: 'n', signal: caller.signal };
  const parameters = (query: Query) => readListParameters({ get: (key) => query[key], all: () => [] });
  const parts = partsOf(store, clock);
  await expect(listObjects(parts, target, parameters({ labelSelector: 'l!=x' }))).rejects.toThrow('gone');
  expect(turns).toBe(2);
  const deletion = { dryRun: false, givenDryRun: [], gracePeriodSeconds: undefined, preconditions: undefined };
  const context = { now: clock.now() } as RequestContext;
  await expect(deleteCollection(parts, target, parameters({}), deletion, context)).rejects.toThrow('gone');
  expect((await collection(store, clock).list()).entries).toHaveLength(3);
  vi.restoreAllMocks();
  await store.close();
});

test.each<Query>([{ resourceVersion: '1' }, { resourceVersion: '1', limit: '0' }, { limit: '1' }])(
  'a deletion of a collection removes only the requested page or state: %j',
  async (query) => {
    const store = new MemoryStore();
    const clock = new FakeClock();
    const objects = collection(store, clock);
    for (const name of ['a', 'b']) await objects.put('n', name);
    const parameters = readListParameters({ get: (key) => query[key], all: () => [] });
    const target = { definition, namespace: 'n', signal: new AbortController().signal };
    const deletion = { dryRun: false, givenDryRun: [], gracePeriodSeconds: undefined, preconditions: undefined };
    const context = { now: clock.now() } as RequestContext;
    await deleteCollection(partsOf(store, clock), target, parameters, deletion, context);
    expect(labelOf(await objects.list())).toEqual(['b=@2']);
    await store.close();
  },
);

test('a collection of many pages is deleted completely and answered as one list', async () => {
  const store = new MemoryStore();
  const clock = new FakeClock();
  const objects = collection(store, clock);
  const count = 10_001;
  for (let at = 0; at < count; at++) await objects.put('n', `c${at}`);
  const target = { definition, namespace: 'n', signal: new AbortController().signal };
  const everything = readListParameters({ get: () => undefined, all: () => [] });
  const deletion = { dryRun: false, givenDryRun: [], gracePeriodSeconds: undefined, preconditions: undefined };
  const context = { now: clock.now() } as RequestContext;
  const deleted = await deleteCollection(partsOf(store, clock), target, everything, deletion, context);
  expect(deleted).toMatchObject({ type: 'list', entries: { length: count } });
  expect((await objects.list()).entries).toHaveLength(0);
  await store.close();
});
