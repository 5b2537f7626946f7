import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLogger } from '../../src/runtime/logger.js';
import { expireEvents } from '../../src/server/event-expiry.js';
import { UnreadEntry } from '../../src/store/document.js';
import { MemoryStore } from '../../src/store/memory/memory-store.js';
import type { Entry, Store } from '../../src/store/store.js';
import { FakeClock, settled } from '../../src/testing/fake-clock.js';
import { eventually } from '../../src/testing/until.js';

/** Events are deleted a fixed time after their last write, whichever server is running then. */

const minute = 60_000;
let clock: FakeClock;
let store: Store;
let stopping: AbortController;
let running: Promise<void>;
beforeEach(() => {
  clock = new FakeClock(Date.parse('2026-01-01T12:00:00Z'));
  store = new MemoryStore();
  stopping = new AbortController();
});
afterEach(async () => {
  stopping.abort();
  await running;
  await store.close();
});

const begin = async (of = store): Promise<void> => {
  running = expireEvents({ store: of, clock, log: silentLogger, seconds: 3_600, signal: stopping.signal });
  await settled();
};
const put = (key: string, metadata: object = {}, expect: Entry['revision'] | 'absent' = 'absent'): Promise<Entry> =>
  store.commit({ key, document: { bytes: Buffer.from(JSON.stringify({ metadata })), revisionAt: -1 }, expect });
const left = async (): Promise<readonly string[]> => (await store.scan('')).entries.map(({ key }) => key);

test('events are deleted an hour after their last write, and nothing else is', async () => {
  await begin();
  await put('core/configmaps/ns/a');
  const a = await put('core/events/ns/a');
  await put('core/events/ns/b');
  await clock.advance(40 * minute);
  await put('core/events/ns/a', {}, a.revision);
  await clock.advance(20 * minute - 1);
  expect(await left()).toEqual(['core/configmaps/ns/a', 'core/events/ns/a', 'core/events/ns/b']);
  await clock.advance(1);
  expect(await left()).toEqual(['core/configmaps/ns/a', 'core/events/ns/a']);
  await clock.advance(40 * minute);
  expect(await left()).toEqual(['core/configmaps/ns/a']);
});

test('a clock that was behind keeps events for one more hour, not for as long as it was behind', async () => {
  await begin();
  await put('core/events/ns/a');
  clock.set(clock.now() - 24 * 60 * minute);
  await clock.advance(60 * minute);
  clock.set(clock.now() + 24 * 60 * minute);
  expect(await left()).toEqual(['core/events/ns/a']);
  await clock.advance(60 * minute);
  expect(await left()).toEqual([]);
});

test('without events there is no timer', async () => {
  await begin();
  expect(clock.sleeping).toBe(0);
  const { revision } = await put('core/events/ns/a');
  await settled();
  expect(clock.sleeping).toBe(1);
  await store.commit({ key: 'core/events/ns/a', document: undefined, expect: revision });
  await clock.advance(60 * minute);
  expect(clock.sleeping).toBe(0);
});

test.each([
  ['created', { creationTimestamp: '2026-01-01T11:30:00Z' }, 30],
  [
    'changed',
    {
      creationTimestamp: '2026-01-01T10:00:00Z',
      managedFields: [{ time: '2026-01-01T11:40:00Z' }, { time: '2026-01-01T11:20:00Z' }, {}, 5],
    },
    40,
  ],
  ['created in the future', { creationTimestamp: '2027-01-01T00:00:00Z' }, 60],
  ['created at an unknown time', {}, 0],
  ['created at an invalid time', { creationTimestamp: 'yesterday', managedFields: {} }, 0],
])('an event from before the start is deleted an hour after it was %s', async (_, metadata, minutes) => {
  await put('core/events/ns/a', metadata);
  await begin();
  if (minutes > 0) {
    await clock.advance(minutes * minute - 1);
    expect(await left()).toHaveLength(1);
    await clock.advance(1);
  }
  await settled();
  expect(await left()).toHaveLength(0);
});

test('thousands of simultaneously expired events are all deleted', async () => {
  for (let at = 0; at < 2_500; at++) await put(`core/events/ns/${at}`, { creationTimestamp: '2026-01-01T11:00:00Z' });
  await begin();
  // Reading them yields to other work.
  await eventually(left, (keys) => keys.length === 0);
});

test('expiry stops while it still reads existing events', async () => {
  for (let at = 0; at < 2_500; at++) await put(`core/events/ns/${at}`, { labels: { a: 'b'.repeat(1_000) } });
  running = expireEvents({ store, clock, log: silentLogger, seconds: 3_600, signal: stopping.signal });
  await Promise.resolve();
  stopping.abort();
  await running;
});

test('an event that is written during its expiry is kept', async () => {
  const { revision } = await put('core/events/ns/a', { creationTimestamp: '2026-01-01T11:00:00Z' });
  let between = async (): Promise<void> => {
    between = async () => {};
    await put('core/events/ns/a', {}, revision);
  };
  await begin({
    get: (key) => store.get(key),
    scan: (prefix, options) => store.scan(prefix, options),
    changes: (prefix, after) => store.changes(prefix, after),
    revision: () => store.revision(),
    close: () => store.close(),
    commit: async (write) => {
      await between();
      return store.commit(write);
    },
  });
  expect(await left()).toHaveLength(1);
  await clock.advance(60 * minute);
  expect(await left()).toHaveLength(0);
});

test('after a failure everything is read again', async () => {
  let failures = 0;
  await put('core/events/ns/a', { creationTimestamp: '2026-01-01T11:00:00Z' });
  await begin({
    get: (key) => store.get(key),
    scan: (prefix, options) => store.scan(prefix, options),
    changes: (prefix, after) => store.changes(prefix, after),
    revision: () => store.revision(),
    close: () => store.close(),
    commit: (write) => (failures++ === 0 ? Promise.reject(new Error('disk full')) : store.commit(write)),
  });
  expect(await left()).toHaveLength(1);
  await clock.advance(1_000);
  expect(await left()).toHaveLength(0);
});

test('expiry ends when the store is closed', async () => {
  await begin();
  await store.close();
  await running;
});

test('an unreadable event does not hold up others, and is deleted an hour after it was found', async () => {
  const lost = await put('core/events/ns/a', { creationTimestamp: '2026-01-01T11:00:00Z' });
  await put('core/events/ns/b', { creationTimestamp: '2026-01-01T11:30:00Z' });
  const { key, revision } = lost;
  const unread = new UnreadEntry({ key, revision, revisionAt: -1, kept: Buffer.alloc(0) }, () => {
    throw new Error('its key is gone');
  });
  const without: Store = Object.assign(Object.create(store) as Store, {
    async scan(...asked: Parameters<Store['scan']>) {
      const found = await store.scan(...asked);
      if (asked[1]?.tolerant !== true) unread.check();
      return { ...found, entries: found.entries.map((entry) => (entry.key === key ? unread : entry)) };
    },
    changes: store.changes.bind(store),
    commit: store.commit.bind(store),
  });
  await begin(without);
  await clock.advance(30 * minute);
  expect(await left()).toEqual([key]);
  await clock.advance(30 * minute);
  expect(await left()).toEqual([]);
});
