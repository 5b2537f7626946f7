import { Observable } from 'rxjs';
import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  ApiError,
  expired,
  forbidden,
  internalError,
  serviceUnavailable,
  tooManyRequests,
  untyped,
} from '../../src/api/errors.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import type { ApiObject, ResourceType, Unstructured } from '../../src/api/object.js';
import type { CacheChange } from '../../src/client/cache-change.js';
import { type ObjectCache, type ObjectCacheOptions, openObjectCache } from '../../src/client/object-cache.js';
import { type Logger, silentLogger } from '../../src/runtime/logger.js';
import { createLogger } from '../../src/runtime/pino-logger.js';
import { FakeClock, settled } from '../../src/testing/fake-clock.js';
import { FakeClient } from '../fake-client.js';
import { Things, thing } from '../things.js';

interface World {
  readonly clock: FakeClock;
  readonly client: FakeClient;
  readonly cache: ObjectCache<Unstructured>;
  readonly seen: string[];
  readonly stop: AbortController;
  names(): readonly string[];
}

async function open(
  prepare: (client: FakeClient) => unknown = () => {},
  options: Partial<ObjectCacheOptions<Unstructured>> = {},
  clock = new FakeClock(),
): Promise<World> {
  const client = new FakeClient(clock);
  await prepare(client);
  const stop = new AbortController();
  const cache = openObjectCache(client, Things, { signal: stop.signal, clock, random: () => 0, ...options });
  const seen: string[] = [];
  cache.changes.subscribe({
    next: ({ type, object }: CacheChange<Unstructured>) => seen.push(`${type} ${object.metadata.name}`),
    complete: () => seen.push('end'),
  });
  await settled();
  const names = (): readonly string[] => cache.list().map(({ metadata }) => metadata.name ?? '');
  return { clock, client, cache, seen, stop, names };
}
/** Makes every later watch stop before the next event: it fails, or ends if there is no failure. */
function obstacle(client: FakeClient, failure: Error | undefined): () => void {
  let from = Number.NEGATIVE_INFINITY;
  const resource = client.resource.bind(client);
  client.resource = (type) => {
    const real = resource(type);
    return {
      ...real,
      watch: (options = {}) =>
        Number(options.resourceVersion) > from
          ? real.watch(options)
          : new Observable((subscriber) => {
              client.calls.push({ verb: 'watch', plural: type.plural });
              if (failure === undefined) subscriber.complete();
              else subscriber.error(failure);
            }),
    };
  };
  return () => {
    from = client.revision;
  };
}

const refused = (): Error => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const hungUp = (): Error => new Error('socket hang up');
const gone = expired('too old resource version: 1 (5)');
const noRight = forbidden(Things, 'RBAC: not yet');
const lists = (client: FakeClient): number => client.calls.filter(({ verb }) => verb === 'list').length;

describe('object cache', () => {
  test('holds existing objects, and follows changes', async () => {
    const { client, cache, seen, names } = await open((api) => api.resource(Things).create(thing('a')));
    await cache.synced;
    const things = client.resource(Things);
    await things.create(thing('b'));
    await things.update(thing('a', { spec: 1 }));
    await things.delete({ namespace: 'n', name: 'b' });
    expect(seen).toEqual(['added a', 'added b', 'modified a', 'deleted b']);
    expect(names()).toEqual(['a']);
    expect(cache.get({ namespace: 'n', name: 'a' })?.['spec']).toBe(1);
    expect(cache.list()).toBe(cache.list());
  });

  test('reports an object that cannot be transformed, continues, and retries later', async () => {
    const warned: unknown[] = [];
    const log: Logger = { ...silentLogger, child: () => log, warn: (fields) => warned.push(fields) };
    let isWell = false;
    const transform = (object: Unstructured): Unstructured => {
      if (object['spec'] !== undefined && !isWell) throw new Error('cannot be read');
      return object;
    };
    const { client, cache, clock } = await open(() => {}, { transform, log });
    await client.resource(Things).create(thing('a', { spec: 1 }));
    await clock.advance(10_000);
    expect(warned).toMatchObject([{ err: { message: 'cannot be read' } }]);
    isWell = true;
    await clock.advance(60_000);
    expect(cache.get({ namespace: 'n', name: 'a' })).toMatchObject({ spec: 1 });
  });

  test('sends a late subscriber all present objects, then changes', async () => {
    const { client, cache } = await open((api) => api.resource(Things).create(thing('a')));
    const late: string[] = [];
    cache.changes.subscribe(({ type, object }) => late.push(`${type} ${object.metadata.name}`));
    await client.resource(Things).create(thing('b'));
    expect(late).toEqual(['added a', 'added b']);
  });

  test.each<[string, Partial<ObjectCacheOptions<Unstructured>>]>([
    ['the result of a transform', { transform: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }) }],
    ['metadata if only that is requested', { metadataOnly: true }],
  ])('keeps and emits only %s', async (_what, options) => {
    const { client, cache } = await open((api) => api.resource(Things).create(thing('a', { spec: 1 })), options);
    await client.resource(Things).create(thing('b', { spec: 2 }));
    const told: Unstructured[] = [];
    cache.changes.subscribe(({ object }) => told.push(object));
    for (const objects of [cache.list(), told]) {
      expect(objects.map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
      expect(objects.some((object) => 'spec' in object)).toBe(false);
    }
  });

  test('requests a single namespace, for which a Role is enough', async () => {
    const asked: unknown[] = [];
    const prepare = (client: FakeClient): void => {
      const resource = client.resource.bind(client);
      client.resource = (type) => {
        const { list, watch, ...real } = resource(type);
        return {
          ...real,
          list: (options = {}) => {
            asked.push(options.namespace);
            return list(options);
          },
          watch: (options = {}) => {
            asked.push(options.namespace);
            return watch(options);
          },
        };
      };
    };
    await open(prepare, { namespace: 'n' });
    expect(asked).toEqual(['n', 'n']);
  });

  test('with metadataOnly has objects without other members', () => {
    const client = new FakeClient(new FakeClock());
    const cache = openObjectCache(client, ConfigMaps, { signal: AbortSignal.abort(), metadataOnly: true });
    expectTypeOf(cache).toEqualTypeOf<ObjectCache<ApiObject>>();
  });

  test('resumes a dropped watch without listing again', async () => {
    const { clock, client, seen } = await open();
    await clock.advance(5_000);
    client.dropWatches(new Error('socket hang up'));
    await client.resource(Things).create(thing('meanwhile'));
    expect(seen).toEqual([]);
    await clock.advance(800);
    expect(seen).toEqual(['added meanwhile']);
    expect(lists(client)).toBe(1);
  });

  test('renews a watch at once that ended in order', async () => {
    const { clock, client, seen } = await open();
    await clock.advance(5_000);
    client.dropWatches();
    await settled();
    await client.resource(Things).create(thing('next'));
    expect(seen).toEqual(['added next']);
  });

  test('waits before it renews a watch that ended immediately', async () => {
    const { clock, client } = await open();
    const before = client.calls.length;
    for (let i = 0; i < 20; i++) {
      client.dropWatches();
      await settled();
    }
    expect(client.calls.length).toBe(before);
    await clock.advance(800);
    expect(client.calls.length).toBe(before + 1);
  });

  test('lists again after an expired watch, and replaces all objects at once', async () => {
    const { clock, client, cache, seen, names } = await open(async (api) => {
      for (const name of ['gone', 'kept', 'changed', 'replaced']) await api.resource(Things).create(thing(name));
    });
    seen.length = 0;
    await clock.advance(5_000);
    client.dropWatches(new Error('reset'));
    const things = client.resource(Things);
    await things.delete({ namespace: 'n', name: 'gone' });
    await things.update(thing('changed', { spec: 1 }));
    await things.delete({ namespace: 'n', name: 'replaced' });
    await things.create(thing('replaced'));
    await things.create(thing('new'));
    client.compact();
    const sizes: number[] = [];
    let late: string[] | undefined;
    cache.changes.subscribe(({ type }) => {
      sizes.push(cache.list().length);
      // A subscriber that joins in between starts with all new objects, and gets none of them twice.
      if (type !== 'deleted' || late !== undefined) return;
      const told: string[] = [];
      late = told;
      cache.changes.subscribe((change) => told.push(`${change.type} ${change.object.metadata.name}`));
    });
    sizes.length = 0;
    await clock.advance(2_400);
    expect(lists(client)).toBe(2);
    expect([...seen].sort()).toEqual([
      'added new',
      'added replaced',
      'deleted gone',
      'deleted replaced',
      'modified changed',
    ]);
    expect(new Set(sizes)).toEqual(new Set([4]));
    expect(late?.sort()).toEqual(['added changed', 'added kept', 'added new', 'added replaced']);
    expect([...names()].sort()).toEqual(['changed', 'kept', 'new', 'replaced']);
  });

  test('reports an object as modified if only its presentation has changed, as with a new default', async () => {
    let fallback: object = {};
    const { clock, client, cache, seen } = await open(
      async (api) => {
        await api.resource(Things).create(thing('plain'));
        await api.resource(Things).create(thing('set', { spec: 1 }));
      },
      { transform: (object) => ({ ...fallback, ...object }) },
    );
    const before = cache.list().find(({ metadata }) => metadata.name === 'set');
    seen.length = 0;
    await clock.advance(5_000);
    fallback = { spec: 0 };
    client.dropWatches(expired('too old resource version: 1 (5)'));
    await settled();
    expect(lists(client)).toBe(2);
    expect(seen).toEqual(['modified plain']);
    expect(cache.list().map(({ spec }) => spec)).toEqual([0, 1]);
    expect(cache.list()[1]).toBe(before);
  });

  test.each<[string, readonly Error[], number]>([
    ['that worked before', [], 0],
    ['after refused connections', [hungUp(), refused()], 800 + 1_600],
    ['after a server that did not know its callers yet', [hungUp(), noRight], 800 + 1_600],
  ])('lists at once after an expired watch %s', async (_what, before, afterMs) => {
    const { clock, client } = await open();
    await clock.advance(60_000);
    const failures = [...before, gone];
    client.fail = ({ verb }) => (verb === 'watch' ? failures.shift() : undefined);
    client.dropWatches(failures.shift());
    await clock.advance(afterMs);
    expect(lists(client)).toBe(2);
    expect(client.watching).toBe(1);
  });

  test('delays the list after a repeated expiry, unless the watch was quiet for two minutes', async () => {
    const { clock, client } = await open();
    await clock.advance(5_000);
    client.dropWatches(gone);
    await clock.advance(5_000);
    client.dropWatches(gone);
    await clock.advance(799);
    expect(lists(client)).toBe(2);
    await clock.advance(1);
    expect(lists(client)).toBe(3);
    await clock.advance(120_000);
    client.dropWatches(gone);
    await settled();
    expect(lists(client)).toBe(4);
  });

  test.each<[string, Error | undefined, number]>([
    ['an ERROR event of a failed server', internalError('unable to decode watch event'), 800],
    ['an answer of a proxy', serviceUnavailable('no server is there'), 2_400],
    ['a line that cannot be read', new Error('the watch sent a line that is not an event'), 2_400],
    ['the end of the watch', undefined, 2_400],
  ])('lists again if watches fail at the same point: %s', async (_what, failure, afterMs) => {
    let begin = (): void => {};
    const { clock, client, names } = await open((api) => {
      begin = obstacle(api, failure);
    });
    await clock.advance(5_000);
    begin();
    client.dropWatches();
    await client.resource(Things).create(thing('beyond'));
    await settled();
    await clock.advance(afterMs - 1);
    expect(lists(client)).toBe(1);
    await clock.advance(1);
    expect(names()).toEqual(['beyond']);
    await client.resource(Things).create(thing('next'));
    expect(names()).toEqual(['beyond', 'next']);
    expect(lists(client)).toBe(2);
  });

  test('lists again if a working watch ends with an ERROR event of a failed server', async () => {
    const { clock, client } = await open();
    await clock.advance(5_000);
    client.dropWatches(internalError('etcd'));
    await clock.advance(800);
    expect(lists(client)).toBe(2);
    expect(client.watching).toBe(1);
  });

  test.each<[string, Error]>([
    ['succeeds', internalError('etcd')],
    ['starts where the list ended', gone],
  ])('lists with growing pauses if no watch %s, and logs it', async (_what, failure) => {
    const lines: string[] = [];
    const log: Logger = { ...silentLogger, warn: (_, message) => void lines.push(message), child: () => log };
    const { clock, client } = await open(
      (api) => {
        api.fail = ({ verb }) => (verb === 'watch' ? failure : undefined);
      },
      { log },
    );
    await clock.advance(10 * 60_000);
    expect(lists(client)).toBeGreaterThan(15);
    expect(lists(client)).toBeLessThan(40);
    expect([...new Set(lines)]).toEqual(['listing or watching failed']);
  });

  test.each<[string, () => Error]>([
    ['down', refused],
    ['busy', () => tooManyRequests('slow down', 1)],
  ])('does not list again while the server is %s', async (_what, failure) => {
    const { clock, client, names } = await open();
    client.fail = ({ verb }) => (verb === 'create' ? undefined : failure());
    client.dropWatches(failure());
    await clock.advance(10 * 60_000);
    await client.resource(Things).create(thing('a'));
    client.fail = () => undefined;
    await clock.advance(60_000);
    expect(names()).toEqual(['a']);
    expect(lists(client)).toBe(1);
  });

  test('does not list again if idle connections are dropped', async () => {
    const { clock, client } = await open();
    for (let at = 0; at < 10; at++) {
      await clock.advance(60_000);
      client.dropWatches(new Error('socket hang up'));
    }
    await clock.advance(60_000);
    expect(lists(client)).toBe(1);
    expect(client.watching).toBe(1);
  });

  test('does not list again if asked to slow down', async () => {
    const { clock, client } = await open();
    await clock.advance(5_000);
    client.dropWatches(tooManyRequests('slow down', 1));
    await clock.advance(60_000);
    expect(lists(client)).toBe(1);
    expect(client.watching).toBe(1);
  });

  test('resumes from the last bookmark', async () => {
    const { clock, client } = await open();
    await clock.advance(5_000);
    client.bookmark();
    client.compact();
    client.dropWatches(new Error('reset'));
    await clock.advance(800);
    expect(lists(client)).toBe(1);
    expect(client.watching).toBe(1);
  });

  test('retries with growing pauses while the server is down', async () => {
    const { clock, client, cache, names } = await open((api) => {
      api.fail = () => new Error('connect ECONNREFUSED');
    });
    await clock.advance(10 * 60_000);
    const tries = client.calls.length;
    expect(tries).toBeGreaterThan(15);
    expect(tries).toBeLessThan(40);
    client.fail = () => undefined;
    await client.resource(Things).create(thing('a'));
    await clock.advance(30_000);
    await cache.synced;
    expect(names()).toEqual(['a']);
  });

  test('logs a failure once, and its end', async () => {
    const lines: string[] = [];
    const at = (level: string) => (_fields: object, message: string) => void lines.push(`${level} ${message}`);
    const log: Logger = { ...silentLogger, info: at('info'), warn: at('warn'), child: () => log };
    const { clock, client, stop } = await open(() => {}, { log });
    await clock.advance(5_000);
    client.dropWatches(new Error('socket hang up'));
    await clock.advance(5_000);
    client.bookmark();
    expect(lines).toEqual([]);
    client.fail = () => new Error('connect ECONNREFUSED');
    client.dropWatches(new Error('socket hang up'));
    await clock.advance(60_000);
    expect(lines).toEqual(['warn listing or watching failed']);
    client.fail = () => undefined;
    await clock.advance(60_000);
    client.bookmark();
    expect(lines).toEqual(['warn listing or watching failed', 'info listing and watching again']);
    client.fail = ({ verb }) => (verb === 'watch' ? new Error('connect ECONNREFUSED') : undefined);
    client.dropWatches(new Error('socket hang up'));
    await clock.advance(60_000);
    client.fail = () => undefined;
    await clock.advance(60_000);
    expect(client.watching).toBe(1);
    stop.abort();
    await settled();
    expect(lines.slice(2)).toEqual(['warn listing or watching failed', 'info listing and watching again']);
  });

  test.each<[string, (at: number, verb: string) => Error | undefined]>([
    ['with two alternating messages', (at) => (at % 2 === 0 ? hungUp() : noRight)],
    ['with different numbers each time', (at, verb) => (verb === 'watch' ? expired(`too old: ${at}`) : undefined)],
    ['while a list fails now and then', (at, verb) => (verb === 'watch' || at % 5 === 4 ? noRight : undefined)],
  ])('that fails %s is logged a few times an hour, and reported as failing all the time', async (_what, failure) => {
    const lines: string[] = [];
    const at = (level: string) => () => void lines.push(level);
    const log: Logger = { ...silentLogger, info: at('info'), warn: at('warn'), child: () => log };
    const { count, cacheObserver } = observed();
    let tries = 0;
    const { clock } = await open(
      (client) => {
        client.fail = ({ verb }) => failure(tries++, verb);
      },
      { log, cacheObserver },
    );
    await clock.advance(60_000);
    for (let minute = 1; minute < 60; minute++) {
      await clock.advance(60_000);
      expect(count.failing).toBe(1);
    }
    expect(lines).not.toContain('info');
    expect(lines.length).toBeLessThan(10);
  });

  test('repeats the warning every ten minutes while it fails', async () => {
    const warned: number[] = [];
    const clock = new FakeClock(0);
    const log: Logger = { ...silentLogger, warn: () => void warned.push(clock.now()), child: () => log };
    const { client } = await open(() => {}, { log }, clock);
    client.fail = () => untyped('things is forbidden', 403);
    client.dropWatches(new Error('socket hang up'));
    await clock.advance(35 * 60_000);
    expect(warned).toHaveLength(4);
    const waits = warned.slice(1).map((at, before) => at - (warned[before] ?? 0));
    for (const wait of waits) expect([wait >= 600_000, wait < 660_000]).toEqual([true, true]);
  });

  /** Counts the caches that are syncing and failing. */
  function observed() {
    const count = { syncing: 0, failing: 0 };
    const told: string[] = [];
    const tell =
      (of: keyof typeof count) =>
      ({ plural }: ResourceType, change: 1 | -1): void => {
        count[of] += change;
        told.push(`${plural} ${of} ${count[of]}`);
      };
    return { count, told, cacheObserver: { syncing: tell('syncing'), failing: tell('failing') } };
  }

  test.each<[string, Error]>([
    ['is forbidden', new ApiError({ message: 'cannot watch things', reason: 'Forbidden', code: 403 })],
    ['is not served', untyped('the server does not allow this method', 405)],
    ['requires a list each time', expired('too old')],
    ['fails in the server', internalError('etcd')],
    ['ends immediately in a proxy', new Error('socket hang up')],
  ])('is reported as failing if its watch %s, although lists work', async (_what, failure) => {
    const { told, cacheObserver } = observed();
    const { clock, client } = await open(() => {}, { cacheObserver });
    client.fail = ({ verb }) => (verb === 'watch' ? failure : undefined);
    client.dropWatches(failure);
    await clock.advance(10 * 60_000);
    expect(lists(client)).toBeGreaterThan(3);
    expect(told).toEqual(['things syncing 1', 'things syncing 0', 'things failing 1']);
    client.fail = () => undefined;
    await clock.advance(60_000);
    client.bookmark();
    expect(told.slice(3)).toEqual(['things failing 0']);
  });

  test('is not reported as failing if its idle watch is regularly cut off', async () => {
    const { told, cacheObserver } = observed();
    const { clock, client } = await open(() => {}, { cacheObserver });
    for (let times = 0; times < 10; times++) {
      await clock.advance(20_000);
      client.dropWatches(hungUp());
      await clock.advance(2_000);
      // The wait does not grow each time.
      expect(client.watching).toBe(1);
    }
    expect(told).toEqual(['things syncing 1', 'things syncing 0']);
    expect(lists(client)).toBe(1);
  });

  test('soon resumes a watch that is cut off every few seconds after an event', async () => {
    const { clock, client, names } = await open();
    for (let times = 0; times < 10; times++) {
      await client.resource(Things).create(thing(`t${times}`));
      await clock.advance(3_000);
      client.dropWatches(hungUp());
      await clock.advance(1_000);
      expect(client.watching).toBe(1);
    }
    expect(names()).toHaveLength(10);
    expect(lists(client)).toBe(1);
  });

  test('is reported as failing if its watch is never answered', async () => {
    const { told, cacheObserver } = observed();
    const clock = new FakeClock();
    const silent = (client: FakeClient): void => {
      const resource = client.resource.bind(client);
      client.resource = (type) => {
        const real = resource(type);
        return { ...real, watch: ({ onOpen: _, ...options } = {}) => real.watch(options) };
      };
    };
    const log: Logger = { ...silentLogger, warn: (fields) => void warned.push(fields), child: () => log };
    const warned: object[] = [];
    await open(silent, { cacheObserver, log }, clock);
    await clock.advance(20 * 60_000);
    expect(told.slice(2)).toEqual(['things failing 1']);
    expect(warned[0]).toMatchObject({ err: { message: 'the watch was not answered' } });
  });

  test('is reported as working after the first list, once the server is up', async () => {
    const { told, cacheObserver } = observed();
    const { clock, client } = await open((api) => Object.assign(api, { fail: refused }), {
      cacheObserver,
    });
    client.fail = () => undefined;
    await clock.advance(800);
    expect(told).toEqual(['things syncing 1', 'things failing 1', 'things failing 0', 'things syncing 0']);
  });

  test('is reported as working after a list, once the server is back and requires one', async () => {
    const { told, cacheObserver } = observed();
    const { clock, client } = await open(() => {}, { cacheObserver });
    client.fail = () => refused();
    client.dropWatches(refused());
    await clock.advance(60_000);
    expect(told.slice(2)).toEqual(['things failing 1']);
    client.fail = ({ verb }) => (verb === 'watch' && lists(client) === 1 ? expired('too old') : undefined);
    await clock.advance(120_000);
    expect(told.slice(3)).toEqual(['things failing 0']);
  });

  test.each<[string, Error, boolean]>([
    ['an answer of the server', serviceUnavailable('starting'), false],
    ['a connection error', Object.assign(refused(), { cause: refused() }), false],
    ['any other error', new Error('cannot be read'), true],
  ])('logs the message of %s, and a stack only if it is informative', async (_what, err, hasStack) => {
    let text = '';
    const log = createLogger({ destination: { write: (line) => (text += line) } });
    const prepare = (api: FakeClient): void => {
      api.fail = () => err;
    };
    await open(prepare, { log });
    const line = JSON.parse(text) as { readonly err: object };
    expect(line.err).toMatchObject({ type: err.name, message: err.message, ...('code' in err && { code: err.code }) });
    expect(text.includes('"stack"')).toBe(hasStack);
  });

  test('that is stopped resets what it reported', async () => {
    const { told, cacheObserver } = observed();
    const prepare = (api: FakeClient): void => {
      api.fail = () => refused();
    };
    const { stop } = await open(prepare, { cacheObserver });
    expect(told).toEqual(['things syncing 1', 'things failing 1']);
    stop.abort();
    await settled();
    expect(told.slice(2)).toEqual(['things failing 0', 'things syncing 0']);
  });

  test.each<[string, boolean, number]>([
    ['logs a type that was never served', false, 1],
    ['does not log a type that was served before', true, 0],
  ])('%s', async (_what, wasServed, count) => {
    let warnings = 0;
    const log: Logger = { ...silentLogger, warn: () => void warnings++, child: () => log };
    const refuse = (): Error => new ApiError({ message: '404 page not found', reason: 'NotFound', code: 404 });
    const { clock, client } = await open(
      (api) => {
        if (!wasServed) api.fail = refuse;
      },
      { log },
    );
    client.fail = refuse;
    client.dropWatches(expired('gone'));
    await clock.advance(60_000);
    expect(warnings).toBe(count);
  });

  test('lists page by page, and completely if a continue token expires', async () => {
    let pages = 0;
    const { client, names, seen } = await open(
      async (api) => {
        for (const name of ['a', 'b', 'c', 'd', 'e']) await api.resource(Things).create(thing(name));
        api.fail = ({ verb }) => {
          if (verb === 'list' && ++pages === 3) api.compactedBefore = Number.MAX_SAFE_INTEGER;
          return undefined;
        };
      },
      { pageSize: 2 },
    );
    client.compactedBefore = 0;
    await settled();
    expect(pages).toBeGreaterThanOrEqual(4);
    expect(names()).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(seen.filter((line) => line === 'added a')).toEqual(['added a']);
  });

  test('misses no change between pages, even if each page shows a later state', async () => {
    const key = { namespace: 'n', name: 'a' };
    let pages = 0;
    const { names, cache } = await open(
      async (api) => {
        const things = api.resource(Things);
        for (const name of ['a', 'b', 'c']) await things.create(thing(name));
        const a = await things.get(key);
        api.fail = ({ verb }) => {
          if (verb === 'list' && ++pages === 2 && a) void things.update({ ...a, spec: 'changed' });
          return undefined;
        };
      },
      { pageSize: 2 },
    );
    await settled();
    expect(names()).toEqual(['a', 'b', 'c']);
    expect(cache.get(key)).toMatchObject({ spec: 'changed' });
  });

  test('renews a watch that the server does not end in time', async () => {
    const { clock, client } = await open();
    const watches = (): number => client.calls.filter(({ verb }) => verb === 'watch').length;
    expect(watches()).toBe(1);
    await clock.advance(330_000);
    expect(watches()).toBe(2);
    expect(client.watching).toBe(1);
  });

  test('ends when stopped, and leaves nothing behind', async () => {
    const { clock, client, seen, stop } = await open();
    stop.abort();
    await settled();
    expect(seen).toEqual(['end']);
    expect(client.watching).toBe(0);
    expect(clock.sleeping).toBe(0);
  });

  test('lists again if the history of the server is another one', async () => {
    const { clock, client } = await open();
    await clock.advance(5_000);
    client.dropWatches(
      new ApiError({ reason: 'Timeout', message: 'Timeout: Too large resource version: 9, current: 1' }),
    );
    await clock.advance(2_000);
    expect(lists(client)).toBe(2);
  });
});
