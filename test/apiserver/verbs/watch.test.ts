import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../src/api/errors.js';
import type { ApiObject } from '../../../src/api/object.js';
import { readListParameters } from '../../../src/api/options.js';
import { Catalogue } from '../../../src/apiserver/catalogue.js';
import { decodeEntry } from '../../../src/apiserver/entry-codec.js';
import type { WatchItem, WatchResult } from '../../../src/apiserver/request.js';
import { watchObjects } from '../../../src/apiserver/verbs/watch.js';
import { storageKey } from '../../../src/registry/keys.js';
import type { ResourceDefinition } from '../../../src/registry/resource-definition.js';
import type { Clock } from '../../../src/runtime/clock.js';
import { MemoryStore } from '../../../src/store/memory/memory-store.js';
import { type Change, HistoryCompacted, type Revision, type Store } from '../../../src/store/store.js';
import { StoreUnavailable } from '../../../src/store/store-unavailable.js';
import { FakeClock, settled } from '../../../src/testing/fake-clock.js';
import { type Collection, collection, definition, partsOf, type Query } from './collection.js';

/** The selection of a watcher, as a query and as a function. */
interface Selector {
  readonly query: Query;
  readonly namespace: string;
  readonly takes: (object: ApiObject) => boolean;
}
const label = (object: ApiObject): string | undefined => object.metadata.labels?.['l'];
const selectors: readonly Selector[] = [
  { query: {}, namespace: '', takes: () => true },
  { query: { labelSelector: 'l=x' }, namespace: '', takes: (object) => label(object) === 'x' },
  { query: { labelSelector: 'l!=x' }, namespace: '', takes: (object) => label(object) !== 'x' },
  {
    query: { labelSelector: 'l in (x,y)', fieldSelector: 'metadata.name!=a' },
    namespace: 'one',
    takes: (object) =>
      ['x', 'y'].includes(label(object) ?? '') && object.metadata.name !== 'a' && object.metadata.namespace === 'one',
  },
  {
    query: { fieldSelector: 'metadata.name=b' },
    namespace: 'two',
    takes: ({ metadata }) => metadata.name === 'b' && metadata.namespace === 'two',
  },
];

/** An object that contains this text is read in steps. */
const large = 'x'.repeat(70_000);

interface Told {
  readonly type: string;
  readonly key: string;
  readonly revision: Revision;
  readonly label: string | undefined;
}

/** Returns the events that a watcher must get for the changes after a revision, up to another. */
const wanted = (log: readonly Change[], { takes }: Selector, after: Revision, upTo: Revision): readonly Told[] =>
  log.flatMap((change) => {
    if (change.type === 'progress' || change.entry.revision <= after || change.entry.revision > upTo) return [];
    const { entry } = change;
    const now = decodeEntry(definition, entry);
    const before = change.previous === undefined ? undefined : decodeEntry(definition, change.previous);
    const was = before !== undefined && takes(before);
    const is = change.type === 'put' && takes(now);
    if (!was && !is) return [];
    const type = !was ? 'ADDED' : is ? 'MODIFIED' : 'DELETED';
    const shown = type === 'DELETED' && before !== undefined ? before : now;
    return [{ type, key: entry.key, revision: entry.revision, label: label(shown) }];
  });

/** A client that resumes from the last version it received, and lists again when that version has expired. */
class Watcher {
  readonly #api: Collection;
  readonly #selector: Selector;
  /** All events since the last list. */
  heard: Told[] = [];
  from: Revision = 0n;
  last: Revision = 0n;
  relists = 0;
  expired: Revision | undefined;
  #subscription: { unsubscribe(): void } | undefined;
  /** The reader takes this many events, then pauses until `take` is called. */
  #room = Number.POSITIVE_INFINITY;
  #wake: (() => void) | undefined;

  constructor(api: Collection, selector: Selector) {
    this.#api = api;
    this.#selector = selector;
  }

  get connected(): boolean {
    return this.#subscription !== undefined;
  }

  async relist(): Promise<readonly ApiObject[]> {
    const list = await this.#api.list(this.#selector.query, this.#selector.namespace);
    this.from = BigInt(list.resourceVersion);
    this.last = this.from;
    this.heard = [];
    this.expired = undefined;
    this.relists++;
    return list.entries.map((entry) => decodeEntry(definition, entry));
  }

  connect(): void {
    if (this.#subscription !== undefined) return;
    const { query, namespace } = this.#selector;
    const { events, backpressure } = this.#api.watch(
      { ...query, resourceVersion: String(this.last), allowWatchBookmarks: 'true' },
      namespace,
    );
    backpressure.limit(() => {
      if (this.#room > 0) return undefined;
      expect(this.#wake).toBeUndefined();
      return new Promise((resolve) => {
        this.#wake = resolve;
      });
    });
    let over = false;
    const subscription = events.subscribe({
      next: (item) => this.#hear(item),
      complete: () => {
        over = true;
        this.#subscription = undefined;
      },
    });
    if (!over) this.#subscription = subscription;
  }

  disconnect(): void {
    this.#subscription?.unsubscribe();
    this.#subscription = undefined;
    this.#wake = undefined;
    this.#room = Number.POSITIVE_INFINITY;
  }

  /** Takes this many more events. */
  take(room: number): void {
    this.#room = room;
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  #hear(item: WatchItem): void {
    this.#room--;
    if (item.type === 'ERROR') {
      expect(item.error).toBeInstanceOf(ApiError);
      expect((item.error as ApiError).code).toBe(410);
      this.expired = this.last;
      return;
    }
    if (item.type === 'BOOKMARK') {
      expect(BigInt(item.resourceVersion)).toBeGreaterThanOrEqual(this.last);
      this.last = BigInt(item.resourceVersion);
      return;
    }
    // Nothing is sent while the reader pauses.
    expect(this.#wake).toBeUndefined();
    const { entry, type } = item;
    const object = decodeEntry(definition, entry);
    expect(object.metadata.resourceVersion).toBe(String(entry.revision));
    this.heard.push({ type, key: entry.key, revision: entry.revision, label: label(object) });
    this.last = entry.revision;
  }
}

const names = ['a', 'b', 'c'];
const namespaces = ['one', 'two'];
const labels = [undefined, 'x', 'y'];
type Step =
  | { readonly do: 'write'; readonly writes: readonly (readonly [string, string, string | undefined | null])[] }
  | { readonly do: 'connect' | 'disconnect' | 'reconnect'; readonly who: number }
  | { readonly do: 'slow' | 'check'; readonly who: number; readonly room: number }
  | { readonly do: 'compact'; readonly back: number }
  | { readonly do: 'time'; readonly seconds: number };
const who = fc.nat(selectors.length - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('write' as const),
      writes: fc.array(
        fc.tuple(fc.constantFrom(...namespaces), fc.constantFrom(...names), fc.constantFrom(...labels, null)),
        { minLength: 1, maxLength: 6 },
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('connect' as const, 'disconnect' as const, 'reconnect' as const), who }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('slow' as const, 'check' as const), who, room: fc.nat(3) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('compact' as const), back: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('time' as const), seconds: fc.constantFrom(6, 61, 125) }) },
);

/** Whether the changes after a revision are no longer available. */
const isForgotten = (store: MemoryStore, after: Revision): Promise<boolean> =>
  new Promise((resolve) => {
    const subscription = store.changes('', after).subscribe({
      next: () => resolve(false),
      error: (error) => resolve(error instanceof HistoryCompacted),
      complete: () => resolve(false),
    });
    subscription.unsubscribe();
  });

test('a watcher that resumes receives every change once and in order, or must list again', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const clock = new FakeClock();
      const store = new MemoryStore({ clock, historyLimit: 12 });
      const api = collection(store, clock);
      const log: Change[] = [];
      store.changes('', 0n).subscribe((change) => log.push(change));
      const watchers = selectors.map((selector) => new Watcher(api, selector));
      await Promise.all(watchers.map((watcher) => watcher.relist()));
      for (const watcher of watchers) watcher.connect();

      const check = async (at: number): Promise<void> => {
        const watcher = watchers[at] as Watcher;
        await settled();
        expect(watcher.heard).toEqual(wanted(log, selectors[at] as Selector, watcher.from, watcher.last));
      };
      for (const each of steps) {
        if (each.do === 'write') {
          // Writes to one object follow each other; those to different objects run concurrently.
          const queues = new Map<string, Promise<unknown>>();
          for (const [namespace, name, value] of each.writes) {
            const key = `${namespace}/${name}`;
            const write = (): Promise<unknown> =>
              value === null
                ? api.remove(namespace, name)
                : api.put(namespace, name, value === undefined ? {} : { l: value }, name === 'b' ? large : '');
            queues.set(key, (queues.get(key) ?? Promise.resolve()).then(write));
          }
          await Promise.all(queues.values());
        } else if (each.do === 'compact') {
          const now = await store.revision();
          const to = now - BigInt(each.back);
          if (to > 0n) await store.compact(to);
        } else if (each.do === 'time') await clock.advance(each.seconds * 1_000);
        else {
          const watcher = watchers[each.who] as Watcher;
          if (each.do === 'disconnect' || each.do === 'reconnect') watcher.disconnect();
          if (each.do === 'disconnect') continue;
          if (each.do === 'slow') watcher.take(each.room);
          else if (each.do === 'check') await check(each.who);
          else {
            if (watcher.expired !== undefined) {
              const state = await watcher.relist();
              const { takes } = selectors[each.who] as Selector;
              expect(state.map(({ metadata }) => metadata.name)).toEqual(
                (await api.list()).entries
                  .map((entry) => decodeEntry(definition, entry))
                  .filter(takes)
                  .map(({ metadata }) => metadata.name),
              );
            }
            watcher.connect();
          }
        }
      }
      // In the end each watcher catches up, or gets the error that it cannot.
      for (const [at, watcher] of watchers.entries()) {
        watcher.take(Number.POSITIVE_INFINITY);
        await settled();
        watcher.connect();
        await settled();
        await check(at);
        const missing = wanted(log, selectors[at] as Selector, watcher.last, await store.revision());
        if (watcher.expired === undefined) expect(missing).toEqual([]);
        else expect(await isForgotten(store, watcher.expired)).toBe(true);
        watcher.disconnect();
      }
      await store.close();
    }),
    { numRuns: 80 },
  );
});

describe('a watch', () => {
  const open = () => {
    const clock = new FakeClock();
    const store = new MemoryStore({ clock, progressMs: 1_000 });
    return { clock, store, api: collection(store, clock) };
  };
  const follow = ({ events }: WatchResult) => {
    const items: WatchItem[] = [];
    const state = { over: false };
    const subscription = events.subscribe({
      next: (item) => items.push(item),
      complete: () => {
        state.over = true;
      },
    });
    return { items, state, subscription };
  };
  const brief = (items: readonly WatchItem[]): readonly string[] =>
    items.map((item) =>
      'entry' in item
        ? `${item.type} ${item.entry.key.split('/').at(-1)} ${item.entry.revision}`
        : item.type === 'BOOKMARK'
          ? `BOOKMARK ${item.resourceVersion}${item.initialEventsEnd ? ' end' : ''}`
          : `ERROR ${(item.error as Error).message}`,
    );

  test.each<[string, Query, readonly string[]]>([
    ['starts at the current version', { resourceVersion: '2' }, ['MODIFIED a 3']],
    ['starts at a past version', { resourceVersion: '1' }, ['ADDED b 2', 'MODIFIED a 3']],
    ['sends the current state first', {}, ['ADDED a 1', 'ADDED b 2', 'MODIFIED a 3']],
    [
      'sends any state first with resourceVersion 0',
      { resourceVersion: '0' },
      ['ADDED a 1', 'ADDED b 2', 'MODIFIED a 3'],
    ],
    [
      'sends the state first, with a bookmark at its end',
      { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' },
      ['ADDED a 1', 'ADDED b 2', 'BOOKMARK 2 end', 'MODIFIED a 3'],
    ],
    [
      'sends a state at least as new as requested',
      { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', resourceVersion: '2' },
      ['ADDED a 1', 'ADDED b 2', 'MODIFIED a 3'],
    ],
    [
      'sends no state with sendInitialEvents false',
      { sendInitialEvents: 'false', resourceVersionMatch: 'NotOlderThan', resourceVersion: '0' },
      ['MODIFIED a 3'],
    ],
    [
      'marks the end of a selected state, too',
      { labelSelector: 'l=none', allowWatchBookmarks: '1' },
      ['BOOKMARK 2 end'],
    ],
    [
      'does not mark the end of the state on the watch path',
      { watch: 'false', allowWatchBookmarks: '1', labelSelector: 'l=none' },
      [],
    ],
    ['starts at a future version', { resourceVersion: '3' }, []],
  ])('%s', async (_, query, expected) => {
    const { store, api } = open();
    await api.put('n', 'a');
    await api.put('n', 'b');
    const { items, subscription } = follow(api.watch(query));
    await settled();
    await api.put('n', 'a', {}, 'new');
    await settled();
    expect(brief(items)).toEqual(expected);
    subscription.unsubscribe();
    await store.close();
  });

  test('sends bookmarks every minute and two seconds before its end, whatever is selected', async () => {
    const { clock, store, api } = open();
    await api.put('n', 'a');
    const { items, state } = follow(
      api.watch({
        resourceVersion: '1',
        allowWatchBookmarks: 'true',
        labelSelector: 'l=x',
        timeoutSeconds: '100',
      }),
    );
    await settled();
    await api.put('n', 'b');
    await clock.advance(59_000);
    expect(items).toEqual([]);
    await clock.advance(1_000);
    expect(brief(items)).toEqual(['BOOKMARK 2']);
    await clock.advance(38_000);
    expect(brief(items)).toEqual(['BOOKMARK 2', 'BOOKMARK 2']);
    expect(state.over).toBe(false);
    await clock.advance(2_000);
    expect(state.over).toBe(true);
    expect(clock.sleeping).toBe(0);
    await store.close();
  });

  test.each([
    ['100', ['BOOKMARK 2', 'BOOKMARK 2']],
    ['62', ['BOOKMARK 2']],
    ['2', []],
  ])('sends no bookmark twice if sleep ends slightly early (%s s)', async (timeoutSeconds, expected) => {
    const { clock, store } = open();
    const early: Clock = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      sleep: (milliseconds, signal) => clock.sleep(Math.max(milliseconds - 0.8, 0.1), signal),
    };
    const api = collection(store, early);
    await api.put('n', 'a');
    const query = { resourceVersion: '1', allowWatchBookmarks: 'true', labelSelector: 'l=x', timeoutSeconds };
    const { items, state } = follow(api.watch(query));
    await settled();
    await api.put('n', 'b');
    await clock.advance(Number(timeoutSeconds) * 1_000 - 1);
    expect(state.over).toBe(false);
    await clock.advance(2);
    expect(state.over).toBe(true);
    expect(brief(items)).toEqual(expected);
    await store.close();
  });

  test.each([3_600_000, -3_600_000])('lasts as long if the wall clock is set by %i ms', async (by) => {
    const { clock, store, api } = open();
    const { state } = follow(api.watch({ resourceVersion: '0', timeoutSeconds: '100' }));
    await clock.advance(50_000);
    clock.set(clock.now() + by);
    await clock.advance(49_000);
    expect(state.over).toBe(false);
    await clock.advance(1_000);
    expect(state.over).toBe(true);
    await store.close();
  });

  test('counts the time of the initial state, and may end during it', async () => {
    const { clock, store, api } = open();
    for (const name of ['a', 'b', 'c']) await api.put('n', name);
    const watch = api.watch({ timeoutSeconds: '3' });
    watch.backpressure.limit(() => clock.sleep(2_000));
    const { items, state } = follow(watch);
    await clock.advance(3_000);
    expect(state.over).toBe(true);
    expect(brief(items)).toEqual(['ADDED a 1', 'ADDED b 2']);
    await clock.advance(10_000);
    expect(items.length).toBe(2);
    await store.close();
  });

  test.each<[string, Query]>([
    ['of the state', { labelSelector: 'l=x' }],
    ['of a change', { labelSelector: 'l=x', resourceVersion: '1' }],
  ])('whose caller disconnects while an object %s is read sends nothing more', async (_, query) => {
    const { store, api } = open();
    await api.put('n', 'other');
    await api.put('n', 'a', { l: 'x' }, large);
    // The caller disconnects at each possible turn.
    const left: number[] = [];
    for (let turns = 0; left.at(-1) !== 1; turns++) {
      const watch = api.watch(query);
      let asked = 0;
      watch.backpressure.limit(() => {
        asked++;
        return undefined;
      });
      const { items, subscription } = follow(watch);
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      left.push(items.length);
      subscription.unsubscribe();
      await settled();
      expect([items.length, asked]).toEqual([left.at(-1), left.at(-1)]);
    }
    expect(left.length).toBeGreaterThan(2);
    await store.close();
  });

  test('sends no bookmark for a future version', async () => {
    const { clock, store, api } = open();
    await api.put('n', 'a');
    const { items } = follow(api.watch({ resourceVersion: '3', allowWatchBookmarks: 'true' }));
    await clock.advance(61_000);
    expect(items).toEqual([]);
    for (const name of ['b', 'c']) await api.put('n', name);
    await clock.advance(60_000);
    expect(items).toEqual([]);
    await api.put('n', 'd');
    await clock.advance(60_000);
    expect(brief(items)).toEqual(['ADDED d 4', 'BOOKMARK 4']);
    await store.close();
  });

  test.each<[string, Query, readonly string[]]>([
    ['a past version', { resourceVersion: '1' }, ['ADDED b 2']],
    ['the current version', { resourceVersion: '2' }, []],
    ['the current state', {}, ['ADDED a 1', 'ADDED b 2', 'BOOKMARK 2 end']],
    [
      'the current state and its end',
      { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' },
      ['ADDED a 1', 'ADDED b 2', 'BOOKMARK 2 end'],
    ],
  ])('repeats no bookmark if nothing happens after starting with %s', async (_what, query, expected) => {
    const { clock, store, api } = open();
    for (const name of ['a', 'b']) await api.put('n', name);
    const { items } = follow(api.watch({ ...query, allowWatchBookmarks: 'true', timeoutSeconds: '100' }));
    await clock.advance(99_000);
    expect(brief(items)).toEqual(expected);
    await store.close();
  });

  test('resumes from the history while the store cannot be reached', async () => {
    const { clock, store, api } = open();
    await api.put('n', 'a');
    const cutOff: Store = {
      get: (key) => store.get(key),
      scan: (prefix, options) => store.scan(prefix, options),
      commit: (write) => store.commit(write),
      changes: (prefix, after) => store.changes(prefix, after),
      revision: () => Promise.reject(new StoreUnavailable('etcd does not answer')),
      close: () => store.close(),
    };
    const resumed = { resourceVersion: '1', allowWatchBookmarks: 'true' };
    const { items, subscription } = follow(collection(cutOff, clock).watch(resumed));
    await settled();
    await api.put('n', 'b');
    await settled();
    expect(brief(items)).toEqual(['ADDED b 2']);
    subscription.unsubscribe();
  });

  test('from a compacted version sends an error event and ends', async () => {
    const { store, api } = open();
    for (const name of ['a', 'b', 'c']) await api.put('n', name);
    await store.compact(2n);
    const { items, state } = follow(api.watch({ resourceVersion: '1' }));
    await settled();
    expect(brief(items)).toEqual(['ERROR too old resource version: 1 (2)']);
    expect(state.over).toBe(true);
  });

  test('that inspects objects ends at an entry that cannot be read, others continue', async () => {
    const { store, api } = open();
    const all = follow(api.watch({ resourceVersion: '0' }));
    const some = follow(api.watch({ resourceVersion: '0', labelSelector: 'l=x' }));
    await settled();
    const key = storageKey(definition, { namespace: 'n', name: 'a' });
    await store.commit({ key, document: { bytes: Buffer.from('{'), revisionAt: -1 }, expect: 'absent' });
    expect(brief(all.items)).toEqual(['ADDED a 1']);
    expect(some.items).toMatchObject([{ type: 'ERROR' }]);
    expect([all.state.over, some.state.over]).toEqual([false, true]);
    await store.close();
  });

  test('ends if its resource is removed while the state is sent', async () => {
    const { clock, store } = open();
    const custom: ResourceDefinition = { ...definition, group: 'example.com', origin: 'custom' };
    const catalogue = new Catalogue([]);
    catalogue.setCustom([custom]);
    const scan = async () => {
      catalogue.setCustom([]);
      return { entries: [], revision: 0n, remaining: 0 };
    };
    const going = { scan, changes: store.changes.bind(store) } as object as Store;
    const target = { definition: custom, namespace: '', signal: new AbortController().signal };
    const parameters = readListParameters({ get: (key) => (key === 'watch' ? '1' : undefined), all: () => [] });
    const watched = watchObjects(partsOf(going, clock, { catalogue }), target, parameters);
    const { items, state } = follow(watched);
    await settled();
    expect([items, state.over, clock.sleeping]).toEqual([[], true, 0]);
    await store.close();
  });

  test('ends if its objects are now presented differently, and older versions must list again', async () => {
    const { clock, store, api } = open();
    await api.put('n', 'a');
    const custom: ResourceDefinition = { ...definition, origin: 'custom', since: 1n };
    const catalogue = new Catalogue([]);
    catalogue.setCustom([custom]);
    const from = (resourceVersion: string, since: bigint) => {
      const target = { definition: { ...custom, since }, namespace: '', signal: new AbortController().signal };
      const query: Query = { watch: '1', resourceVersion };
      const parameters = readListParameters({ get: (key) => query[key], all: () => [] });
      return follow(watchObjects(partsOf(store, clock, { catalogue }), target, parameters));
    };
    const watch = from('1', 1n);
    await clock.advance(1_000);
    const young = from('1', 1n);
    await settled();
    catalogue.setCustom([{ ...custom, verbs: ['watch'] }]);
    expect(watch.state.over).toBe(false);
    catalogue.setCustom([{ ...custom, since: 2n }]);
    await settled();
    expect([watch.items, watch.state.over]).toEqual([[], true]);

    // A recent watcher gets no more events, and is closed a second later.
    catalogue.setCustom([{ ...custom, since: 3n }]);
    await api.put('n', 'b');
    await clock.advance(999);
    expect([young.items, young.state.over]).toEqual([[], false]);
    await clock.advance(1);
    expect([young.items, young.state.over, clock.sleeping]).toEqual([[], true, 0]);

    const late = from('1', 2n);
    await settled();
    expect(brief(late.items)).toEqual(['ERROR too old resource version: 1 (2)']);
    await store.close();
  });

  test('that falls behind the history is cut off, without affecting others', async () => {
    const { store, api } = open();
    const slow = api.watch({ resourceVersion: '0', sendInitialEvents: 'false', resourceVersionMatch: 'NotOlderThan' });
    let wake: (() => void) | undefined;
    const heard: WatchItem[] = [];
    let over = false;
    slow.backpressure.limit(() =>
      heard.length < 2
        ? undefined
        : new Promise((resolve) => {
            wake = resolve;
          }),
    );
    slow.events.subscribe({
      next: (item) => heard.push(item),
      complete: () => {
        over = true;
      },
    });
    const quick = follow(api.watch({ resourceVersion: '0' }));
    await settled();
    for (let at = 0; at < 10; at++) await api.put('n', 'a', {}, String(at));
    await store.compact(5n);
    wake?.();
    await settled();
    expect(brief(heard)).toEqual(['ADDED a 1', 'MODIFIED a 2']);
    expect(over).toBe(true);
    expect(brief(quick.items)).toHaveLength(10);
    expect(quick.state.over).toBe(false);
    quick.subscription.unsubscribe();
    await store.close();
  });
});
