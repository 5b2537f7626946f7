import { setMaxListeners } from 'node:events';
import { expect, test } from 'vitest';
import { controllerReference } from '../../src/api/controller-reference.js';
import { untyped } from '../../src/api/errors.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import { type Secret, Secrets } from '../../src/api/kinds/secret.js';
import type { ApiObject } from '../../src/api/object.js';
import type { ObjectCache } from '../../src/client/object-cache.js';
import type { ReconcileContext, Runnable, SharedCacheOptions } from '../../src/controller/controller.js';
import { defineController } from '../../src/controller/define-controller.js';
import { defineKeyedController } from '../../src/controller/keyed-controller.js';
import { createManager } from '../../src/controller/manager.js';
import { owned } from '../../src/controller/owned.js';
import { referredTo } from '../../src/controller/referred-to.js';
import { sharedCache } from '../../src/controller/shared-cache.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { FakeClock, settled } from '../../src/testing/fake-clock.js';
import { FakeClient } from '../fake-client.js';
import { reviewContext } from '../webhook/review.js';

const secret = (name: string): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: 'n', name },
  data: { a: 'MQ==' },
});
const reconcile = async (): Promise<void> => {};
const watched = ({ calls }: FakeClient): readonly string[] =>
  calls.filter(({ verb }) => verb === 'watch').map(({ plural }) => plural);

/** A user with a client, a clock and a log, which works until it is stopped. */
function user(client: FakeClient, clock: FakeClock) {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const { log, lines } = reviewContext();
  const told: string[] = [];
  const cacheObserver = {
    syncing: (_type: unknown, change: number) => void told.push(`syncing ${change}`),
    failing: (_type: unknown, change: number) => void told.push(`failing ${change}`),
  };
  const context: ReconcileContext = { client, clock, log, signal: stop.signal, cacheObserver };
  return { context, told, lines, stop: () => stop.abort() };
}

function world() {
  const clock = new FakeClock();
  const client = new FakeClient(clock);
  return { clock, client, user: () => user(client, clock) };
}

function namesSeen(cache: ObjectCache<ApiObject>): string[] {
  const seen: string[] = [];
  cache.changes.subscribe({
    next: ({ type, object }) => seen.push(`${type} ${object.metadata.name}`),
    complete: () => seen.push('end'),
  });
  return seen;
}

/** Runs a manager with these runnables for a moment, and returns what was watched. */
async function watchedBy(runnables: readonly Runnable[], { eachItsOwn = false } = {}): Promise<readonly string[]> {
  const clock = new FakeClock();
  const client = new FakeClient(clock);
  const clients = [client, ...runnables.map(() => new FakeClient(clock))];
  let given = 0;
  const stop = new AbortController();
  const running = createManager({ client: eachItsOwn ? () => clients[++given] ?? client : client, clock })
    .add(...runnables)
    .run(stop.signal);
  await settled();
  stop.abort();
  await running;
  expect(clients.map(({ watching }) => watching).every((count) => count === 0)).toBe(true);
  return clients.flatMap(watched);
}

const forSecrets = (name: string, more: SharedCacheOptions<Secret> = {}): Runnable =>
  defineController({ name, for: Secrets, reconcile, ...more });
const forMaps = (name: string): Runnable =>
  defineController({
    name,
    for: ConfigMaps,
    reconcile,
    alsoOn: [
      owned(Secrets, { owner: ConfigMaps }),
      referredTo(Secrets, { by: ConfigMaps, keys: () => [] }),
      { on: Namespaces, keys: async () => [] },
    ],
  });
const part = (object: Secret): Secret => object;

test.each<[string, readonly Runnable[], readonly string[]]>([
  ['one kind', [forSecrets('a'), forSecrets('b')], ['secrets']],
  ['what two own and refer to', [forMaps('a'), forMaps('b')], ['configmaps', 'secrets', 'namespaces']],
  [
    'less than another holds',
    [forSecrets('a'), forSecrets('b', { metadataOnly: true }), forMaps('c')],
    ['secrets', 'configmaps', 'namespaces'],
  ],
  ['more than another holds', [forSecrets('a', { metadataOnly: true }), forSecrets('b')], ['secrets', 'secrets']],
  ['one transform', [forSecrets('a', { transform: part }), forSecrets('b', { transform: part })], ['secrets']],
  ['different transforms', [forSecrets('a', { transform: part }), forSecrets('b')], ['secrets', 'secrets']],
  ['namespaces', [forSecrets('a', { namespace: 'n' }), forSecrets('b')], ['secrets', 'secrets']],
  ['labels', [forSecrets('a', { labelSelector: 'a' }), forSecrets('b')], ['secrets', 'secrets']],
  ['fields', [forSecrets('a', { fieldSelector: 'type=a' }), forSecrets('b')], ['secrets', 'secrets']],
])('controllers that share %s have these watches', async (_what, runnables, expected) => {
  expect((await watchedBy(runnables)).toSorted()).toEqual(expected.toSorted());
});

test('controllers with separate clients share nothing', async () => {
  expect(await watchedBy([forSecrets('a'), forSecrets('b')], { eachItsOwn: true })).toEqual(['secrets', 'secrets']);
});

test('a context with another client uses the caches of that client', async () => {
  const { client, clock, user } = world();
  const other = new FakeClient(clock);
  const { context } = user();
  const mine = sharedCache(context, Secrets);
  const theirs = sharedCache({ ...context, client: other }, Secrets);
  await client.resource(Secrets).create(secret('a'));
  await Promise.all([mine.synced, theirs.synced]);
  expect([mine.list().length, theirs.list().length]).toEqual([1, 0]);
});

test('a late user gets the present objects, and later changes until it stops', async () => {
  const { client, user } = world();
  const [early, late] = [user(), user()];
  await client.resource(Secrets).create(secret('a'));
  const first = namesSeen(sharedCache(early.context, Secrets));
  await settled();
  const cache = sharedCache(late.context, Secrets);
  const second = namesSeen(cache);
  await cache.synced;
  await client.resource(Secrets).create(secret('b'));
  late.stop();
  await client.resource(Secrets).create(secret('c'));
  expect(second).toEqual(['added a', 'added b', 'end']);
  expect(namesSeen(cache)).toEqual(['added a', 'added b', 'added c', 'end']);
  early.stop();
  expect(first).toEqual(['added a', 'added b', 'added c', 'end']);
  await settled();
  expect(client.watching).toBe(0);
  // The next user starts a new cache.
  expect(namesSeen(sharedCache(user().context, Secrets))).toEqual([]);
  await settled();
  expect(watched(client)).toEqual(['secrets', 'secrets']);
});

test('a user that asks repeatedly gets the same cache', async () => {
  const { user } = world();
  const { context, told } = user();
  const cache = sharedCache(context, Secrets);
  expect(sharedCache({ ...context, log: context.log.child({ object: 'a' }) }, Secrets)).toBe(cache);
  await cache.synced;
  expect(told).toEqual(['syncing 1', 'syncing -1']);
});

test('each user is told the state of the cache from its start to its stop', async () => {
  const { client, clock, user } = world();
  client.fail = ({ plural }) => (plural === 'secrets' ? untyped('secrets is forbidden', 403) : undefined);
  const [one, other] = [user(), user()];
  const [, unsynced] = [one, other].map(({ context }) => sharedCache(context, Secrets));
  await settled();
  expect(client.calls.length).toBe(1);
  for (const { told } of [one, other]) expect(told).toEqual(['syncing 1', 'failing 1']);
  other.stop();
  await unsynced?.synced;
  expect(other.told.slice(2)).toEqual(['failing -1', 'syncing -1']);
  client.fail = () => undefined;
  await clock.advance(60_000);
  expect(one.told.slice(2)).toEqual(['failing -1', 'syncing -1']);
  const late = user();
  sharedCache(late.context, Secrets);
  expect(late.told).toEqual(['syncing 1', 'syncing -1']);
  for (const { lines } of [one, other]) expect(lines.filter(({ level }) => level === 'warn').length).toBe(1);
  expect(one.lines.at(-1)?.message).toBe('listing and watching again');
});

test('a user that joins during a failing watch gets a new one, tried at once, and keeps it', async () => {
  const { client, clock, user } = world();
  client.fail = () => untyped('no such kind', 404);
  const [early, late] = [user(), user()];
  const waiting = sharedCache(early.context, Secrets);
  await settled();
  client.fail = () => undefined;
  const cache = sharedCache(late.context, Secrets);
  await cache.synced;
  expect(late.told).toEqual(['syncing 1', 'syncing -1']);
  expect(early.told).toEqual(['syncing 1', 'failing 1']);
  await clock.advance(60_000);
  expect(sharedCache(early.context, Secrets)).toBe(waiting);
  expect(sharedCache(late.context, Secrets)).toBe(cache);
});

test('a referenced object is in the cache in full when a reconcile is woken for it', async () => {
  const { client, clock, user } = world();
  const found: (string | undefined)[] = [];
  const maps = client.resource(ConfigMaps);
  await maps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'n', name: 'm' } });
  const controller = defineController({
    name: 'c',
    for: ConfigMaps,
    alsoOn: [referredTo(Secrets, { by: ConfigMaps, keys: () => [{ namespace: 'n', name: 'a' }], whole: true })],
    async reconcile(_, context) {
      const secrets = sharedCache(context, Secrets);
      await secrets.synced;
      found.push(secrets.get({ namespace: 'n', name: 'a' })?.data?.['a']);
    },
  });
  const { context, stop } = user();
  const running = controller.run(context);
  await settled();
  await client.resource(Secrets).create(secret('a'));
  await clock.advance(1);
  expect(found).toEqual([undefined, 'MQ==']);
  expect(watched(client).toSorted()).toEqual(['configmaps', 'secrets']);
  stop();
  await running;
});

test('an owned object is in the cache in full when a reconcile is woken for it', async () => {
  const { client, clock, user } = world();
  const found: (string | undefined)[] = [];
  const owner = await client
    .resource(ConfigMaps)
    .create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'n', name: 'm' } });
  const controller = defineController({
    name: 'c',
    for: ConfigMaps,
    alsoOn: [owned(Secrets, { owner: ConfigMaps, whole: true })],
    async reconcile(_, context) {
      const secrets = sharedCache(context, Secrets);
      await secrets.synced;
      found.push(secrets.get({ namespace: 'n', name: 'a' })?.data?.['a']);
    },
  });
  const { context, stop } = user();
  const running = controller.run(context);
  await settled();
  const { metadata, ...rest } = secret('a');
  await client
    .resource(Secrets)
    .create({ ...rest, metadata: { ...metadata, ownerReferences: [controllerReference(owner)] } });
  await clock.advance(1);
  expect(found).toEqual([undefined, 'MQ==']);
  expect(watched(client).toSorted()).toEqual(['configmaps', 'secrets']);
  stop();
  await running;
});

test('caches outlive a reconcile with a timeout', async () => {
  const { client, clock, user } = world();
  await client
    .resource(ConfigMaps)
    .create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'n', name: 'm' } });
  await client.resource(Secrets).create(secret('a'));
  client.calls.length = 0;
  const caches = new Set<ObjectCache<ApiObject>>();
  const controller = defineController({
    name: 'c',
    for: ConfigMaps,
    timeoutMs: 1_000,
    async reconcile(_, context) {
      const secrets = sharedCache(context, Secrets);
      await secrets.synced;
      caches.add(secrets);
      return caches.size + secrets.list().length < 3 ? { requeueAfterMs: 2_000 } : undefined;
    },
  });
  const { context, stop } = user();
  const running = controller.run(context);
  await clock.advance(10_000);
  expect(caches.size).toBe(1);
  expect(watched(client)).toEqual(['configmaps', 'secrets']);
  expect(client.watching).toBe(2);
  stop();
  await running;
  expect(client.watching).toBe(0);
});

test('a stopped user opens no watch', async () => {
  const { client, user } = world();
  const { context, stop, told } = user();
  stop();
  const cache = sharedCache(context, Secrets);
  await cache.synced;
  await settled();
  expect([client.calls, told]).toEqual([[], ['syncing 1', 'syncing -1']]);
});

test('transform functions that are new each time are refused at a limit', async () => {
  const { user } = world();
  const { context } = user();
  const another = () => sharedCache(context, Secrets, { transform: (object) => object });
  for (let count = 0; count < 20; count++) another();
  sharedCache(user().context, Secrets, { transform: (object) => object });
  expect(another).toThrow('secrets are held in 20 forms: transform must be the same function each time');
});

test('a reconcile looks objects up in the cache', async () => {
  const { client, clock } = world();
  await client.resource(Secrets).create(secret('a'));
  await client.resource(Secrets).create(secret('c'));
  client.calls.length = 0;
  const found: (string | undefined)[] = [];
  const controller = defineKeyedController<string>('c', (context) => ({
    identity: (key) => key,
    start: (wake) => ['a', 'b', 'c'].forEach((name, at) => void wake(name, 'start', at + 1)),
    async reconcile(name) {
      const secrets = sharedCache(context, Secrets);
      await secrets.synced;
      found.push(secrets.get({ namespace: 'n', name })?.data?.['a']);
    },
  }));
  const stop = new AbortController();
  const running = controller.run({ client, clock, log: silentLogger, signal: stop.signal });
  await clock.advance(10);
  stop.abort();
  await running;
  expect(found).toEqual(['MQ==', undefined, 'MQ==']);
  expect(client.calls.map(({ verb }) => verb)).toEqual(['list', 'watch']);
});
