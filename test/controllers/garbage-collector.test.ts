import { describe, expect, test, vi } from 'vitest';
import { AbsentOwners } from '../../controllers/garbage-collector/absent-owners.js';
import { decide, type OwnerState } from '../../controllers/garbage-collector/decide.js';
import { garbageCollector } from '../../controllers/garbage-collector/garbage-collector.js';
import { Monitors } from '../../controllers/garbage-collector/monitors.js';
import { nodeOf, OwnerGraph } from '../../controllers/garbage-collector/owner-graph.js';
import { Ownership } from '../../controllers/garbage-collector/ownership.js';
import { defaultDomains } from '../../src/api/domains.js';
import { serviceUnavailable } from '../../src/api/errors.js';
import { type ConfigMap, ConfigMaps } from '../../src/api/kinds/config-map.js';
import { CustomResourceDefinitions } from '../../src/api/kinds/custom-resource-definition.js';
import { Events } from '../../src/api/kinds/event.js';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import { type Secret, Secrets } from '../../src/api/kinds/secret.js';
import type { ApiObject, OwnerReference, ResourceType } from '../../src/api/object.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { TurnTaking } from '../../src/runtime/turn-taking.js';
import { FakeClock, settled } from '../../src/testing/fake-clock.js';
import { eventually } from '../../src/testing/until.js';
import { FakeClient } from '../fake-client.js';
import { expectShort } from '../processor-time.js';
import { runControllers } from './run-controllers.js';

const verbs = ['list', 'watch', 'delete', 'get'];
const discovered = (type: ResourceType, can = verbs) => ({ ...type, verbs: can, preferred: true });

/** A type of another group, with the same name as one that every server has. */
const OtherConfigMaps = { ...ConfigMaps, group: 'example.com' };

/** A type of a definition whose conversion webhook may fail. */
const Widgets: ResourceType = { ...ConfigMaps, group: 'example.com', plural: 'widgets', kind: 'Widget' };

const owner = (name: string, finalizers: readonly string[] = []): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'n', finalizers },
});
const refTo = (object: ApiObject, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: object.apiVersion,
  kind: object.kind,
  name: object.metadata.name ?? '',
  uid: object.metadata.uid ?? '',
  ...more,
});
const dependent = (name: string, owners: readonly OwnerReference[], finalizers: readonly string[] = []): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'n', ownerReferences: owners, finalizers },
});

async function start(prepare: (client: FakeClient) => unknown = () => {}) {
  const world = await runControllers([garbageCollector()], async (client) => {
    client.discovered = [ConfigMaps, Secrets, Namespaces, OtherConfigMaps].map((type) => discovered(type));
    await prepare(client);
  });
  const owners = world.client.resource(ConfigMaps);
  const dependents = world.client.resource(Secrets);
  const names = async () => (await dependents.list()).items.map(({ metadata }) => metadata.name);
  const key = (name: string) => ({ namespace: 'n', name });
  return { ...world, owners, dependents, names, key };
}

/** Creates a Widget that owns a Secret; returns the client of Widgets. */
async function widgetThatOwns(client: FakeClient, secret: string) {
  const widgets = client.resource<ApiObject>(Widgets);
  const metadata = { name: 'w', namespace: 'n' };
  const widget = await widgets.create({ apiVersion: 'example.com/v1', kind: 'Widget', metadata });
  await client.resource(Secrets).create(dependent(secret, [refTo(widget)]));
  await settled();
  return widgets;
}

describe('decide', () => {
  const finding = (state: OwnerState, uid: string = state) => ({
    reference: { apiVersion: 'v1', kind: 'X', name: uid, uid },
    state,
  });
  const waiting = nodeOf(Secrets, {
    ...dependent('d', []),
    metadata: { name: 'd', uid: 'd', deletionTimestamp: 'x', finalizers: ['foregroundDeletion'] },
  });
  const idle = nodeOf(Secrets, { ...dependent('d', []), metadata: { name: 'd', uid: 'd' } });

  test.each([
    ['no owner', [], [], [], { do: 'nothing' }],
    ['owners there', [finding('solid')], [], [], { do: 'nothing' }],
    [
      'one there, one gone',
      [finding('solid'), finding('absent')],
      [],
      [],
      { do: 'disown', owners: [finding('absent').reference] },
    ],
    ['all gone', [finding('absent')], [], [], { do: 'delete', policy: 'Background', unblock: false }],
    [
      'all gone, orphan finalizer',
      [finding('absent')],
      ['orphan'],
      [],
      { do: 'delete', policy: 'Orphan', unblock: false },
    ],
    [
      'all gone, foreground finalizer',
      [finding('absent')],
      ['foregroundDeletion'],
      [],
      { do: 'delete', policy: 'Foreground', unblock: false },
    ],
    ['owner waits', [finding('waiting')], [], [], { do: 'delete', policy: 'Background', unblock: false }],
    [
      'owner waits, dependents below',
      [finding('waiting')],
      [],
      [idle],
      { do: 'delete', policy: 'Foreground', unblock: false },
    ],
    [
      'owner waits, dependents wait too',
      [finding('waiting')],
      [],
      [waiting],
      { do: 'delete', policy: 'Foreground', unblock: true },
    ],
  ] as const)('%s', (_, findings, finalizers, dependents, verdict) => {
    expect(decide({ findings, finalizers, dependents })).toEqual(verdict);
  });
});

describe('garbage-collector', () => {
  test('dependents are deleted with their last owner', async () => {
    const { owners, dependents, names, key } = await start();
    const [a, b] = [await owners.create(owner('a')), await owners.create(owner('b'))];
    await dependents.create(dependent('of-a', [refTo(a)]));
    await dependents.create(dependent('of-both', [refTo(a), refTo(b)]));
    await dependents.create(dependent('of-nobody', []));
    await owners.delete(key('a'));
    await settled();
    expect(await names()).toEqual(['of-both', 'of-nobody']);
    expect((await dependents.get(key('of-both')))?.metadata.ownerReferences).toEqual([refTo(b)]);
    await owners.delete(key('b'));
    await settled();
    expect(await names()).toEqual(['of-nobody']);
  });

  test.each([
    ['never existed', { name: 'nobody', uid: 'uid-nobody' }],
    ['has another uid', { uid: 'uid-other' }],
    ['has another name', { name: 'x' }],
    ['is of another group', { apiVersion: 'example.com/v1' }],
  ])('a dependent is deleted whose owner %s', async (_, more) => {
    const { owners, dependents, names } = await start();
    const a = await owners.create(owner('a'));
    await dependents.create(dependent('d', [refTo(a, more)]));
    await settled();
    expect(await names()).toEqual([]);
    expect((await owners.list()).items.length).toBe(1);
  });

  test('dependents from before the start are collected too', async () => {
    const { names } = await start(async (client) => {
      const a = await client.resource(ConfigMaps).create(owner('a'));
      await client.resource(Secrets).create(dependent('kept', [refTo(a)]));
      await client.resource(Secrets).create(dependent('lost', [refTo(a, { uid: 'gone' })]));
    });
    expect(await names()).toEqual(['kept']);
  });

  test('an owner in foreground deletion waits for blocking dependents', async () => {
    const { owners, dependents, names, key } = await start();
    const a = await owners.create(owner('a'));
    await dependents.create(dependent('blocks', [refTo(a, { blockOwnerDeletion: true })], ['example.com/hold']));
    await dependents.create(dependent('does-not', [refTo(a)]));
    await owners.delete(key('a'), { propagationPolicy: 'Foreground' });
    await settled();
    expect(await names()).toEqual(['blocks']);
    expect((await owners.get(key('a')))?.metadata.finalizers).toEqual(['foregroundDeletion']);
    expect((await dependents.get(key('blocks')))?.metadata.deletionTimestamp).toBeDefined();
    await dependents.patch(key('blocks'), { type: 'merge', body: { metadata: { finalizers: null } } });
    await settled();
    expect(await owners.get(key('a'))).toBeUndefined();
  });

  test('all dependents of a foreground deletion are deleted, even if another finalizer holds the owner', async () => {
    const { owners, dependents, names, key } = await start();
    const a = await owners.create(owner('a', ['example.com/hold']));
    for (let i = 0; i < 20; i++) await dependents.create(dependent(`d${i}`, [refTo(a)]));
    await settled();
    await owners.delete(key('a'), { propagationPolicy: 'Foreground' });
    await settled();
    expect(await names()).toEqual([]);
    expect((await owners.get(key('a')))?.metadata.finalizers).toEqual(['example.com/hold']);
  });

  test('a foreground deletion without dependents ends at once', async () => {
    const { owners, key } = await start();
    await owners.create(owner('a'));
    await owners.delete(key('a'), { propagationPolicy: 'Foreground' });
    await settled();
    expect(await owners.get(key('a'))).toBeUndefined();
  });

  test('a cycle of two blocking owners is resolved', async () => {
    const { owners, key, clock } = await start();
    const a = await owners.create(owner('a'));
    const b = await owners.create({
      ...owner('b'),
      metadata: { ...owner('b').metadata, ownerReferences: [refTo(a, { blockOwnerDeletion: true })] },
    });
    await owners.patch(key('a'), {
      type: 'merge',
      body: { metadata: { ownerReferences: [{ ...refTo(b, { blockOwnerDeletion: true }) } as never] } },
    });
    await owners.delete(key('a'), { propagationPolicy: 'Foreground' });
    await clock.advance(10_000);
    expect((await owners.list()).items).toEqual([]);
  });

  test('orphans are released before their owner is deleted', async () => {
    const { owners, dependents, key } = await start();
    const a = await owners.create(owner('a'));
    const b = await owners.create(owner('b'));
    await dependents.create(dependent('d', [refTo(a), refTo(b)]));
    await dependents.create(dependent('e', [refTo(a)]));
    await owners.delete(key('a'), { propagationPolicy: 'Orphan' });
    await settled();
    expect(await owners.get(key('a'))).toBeUndefined();
    expect((await dependents.get(key('d')))?.metadata.ownerReferences).toEqual([refTo(b)]);
    expect((await dependents.get(key('e')))?.metadata.ownerReferences ?? []).toEqual([]);
  });

  test('a dependent that cannot be released holds its owner, but no other dependent', async () => {
    const { owners, dependents, client, clock, key } = await start();
    const a = await owners.create(owner('a'));
    await dependents.create(dependent('d', [refTo(a)]));
    await dependents.create(dependent('e', [refTo(a)]));
    client.fail = (call) => (call.verb === 'patch' && call.key === 'n/d' ? new Error('webhook says no') : undefined);
    await owners.delete(key('a'), { propagationPolicy: 'Orphan' });
    await settled();
    expect((await dependents.get(key('e')))?.metadata.ownerReferences ?? []).toEqual([]);
    expect((await owners.get(key('a')))?.metadata.finalizers).toEqual(['orphan']);
    client.fail = () => undefined;
    await clock.advance(10_000);
    expect(await owners.get(key('a'))).toBeUndefined();
    expect((await dependents.get(key('d')))?.metadata.ownerReferences ?? []).toEqual([]);
  });

  test('an owner of an unserved kind keeps its dependents', async () => {
    const { owners, dependents, names, complaints } = await start();
    const a = await owners.create(owner('a'));
    await dependents.create(dependent('d', [refTo(a, { kind: 'Unknown' })]));
    await settled();
    expect(await names()).toEqual(['d']);
    expect(complaints[0]).toMatch(/no resource is served for the owner kind Unknown/);
  });

  test.each([
    ['was seen to be deleted', undefined, 'get'],
    ['was found to be absent', ['get'], 'delete'],
  ])('dependents are deleted with an owner that %s before its definition', async (_, can, fails) => {
    const { client, clock, names, key } = await start((api) => {
      api.discovered = [...api.discovered, discovered(Widgets, can)];
    });
    const served = client.discovered;
    const widgets = await widgetThatOwns(client, 'd');
    client.fail = ({ verb, plural }) =>
      verb === fails && plural === 'secrets' ? serviceUnavailable('not now') : undefined;
    await widgets.delete(key('w'));
    await clock.advance(60_000);
    client.discovered = served.filter(({ plural }) => plural !== 'widgets');
    await clock.advance(60_000);
    expect(await names()).toEqual(['d']);
    client.fail = () => undefined;
    await clock.advance(1_000_000);
    expect(await names()).toEqual([]);
  });

  test('a cluster-scoped object with a namespaced owner is left alone', async () => {
    const { owners, client } = await start();
    const a = await owners.create(owner('a'));
    const gone = { apiVersion: 'v1', kind: 'Namespace', name: 'gone', uid: 'gone' };
    const ownerReferences = [gone, refTo(a, { uid: 'other' })];
    const namespaces = client.resource(Namespaces);
    await namespaces.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n', ownerReferences } });
    await settled();
    expect((await namespaces.get({ name: 'n' }))?.metadata.ownerReferences).toEqual(ownerReferences);
  });

  test.each([
    ['cluster-scoped', Namespaces, {}, ''],
    ['in another namespace', Secrets, { namespace: 'm' }, 'm'],
  ])('a namespaced owner of an object that is %s is reported in an event', async (_, type, place, space) => {
    const { owners, client } = await start();
    const a = await owners.create(owner('a'));
    const metadata = { name: 'd', ...place, ownerReferences: [refTo(a)] };
    const d = await client.resource<ApiObject>(type).create({ apiVersion: 'v1', kind: type.kind, metadata });
    await settled();
    const events = (await client.resource(Events).list()).items;
    expect(events.map(({ reason, message }) => [reason, message])).toEqual([
      [
        'OwnerRefInvalidNamespace',
        `ownerRef [v1/ConfigMap, namespace: ${space}, name: a, uid: ${a.metadata.uid}] does not exist in namespace "${space}"`,
      ],
    ]);
    expect(events[0]?.involvedObject).toEqual({
      apiVersion: 'v1',
      kind: type.kind,
      name: 'd',
      ...place,
      uid: d.metadata.uid,
    });
    expect(events[0]?.metadata.namespace).toBe(space || 'default');
  });

  test('an owner that was created while its dependent was examined keeps it', async () => {
    const { owners, dependents, names, client } = await start();
    const real = await owners.create(owner('a'));
    client.dropWatches(new Error('reset'));
    await dependents.create(dependent('d', [refTo(real)]));
    await settled();
    expect(await names()).toEqual(['d']);
  });

  test('dependents are deleted with an owner of an unwatched kind', async () => {
    const { client, clock, owners, dependents, names, key } = await start();
    client.discovered = [discovered(ConfigMaps, ['get', 'list']), discovered(Secrets)];
    await clock.advance(30_000);
    const a = await owners.create(owner('a'));
    await dependents.create(dependent('d', [refTo(a)]));
    await clock.advance(10_000);
    expect(await names()).toEqual(['d']);
    await owners.delete(key('a'));
    await clock.advance(10_000);
    expect(await names()).toEqual([]);
  });

  test('newly served types are watched, and unserved types forgotten', async () => {
    const { client, clock, owners, dependents, names, key } = await start((api) => {
      api.discovered = [discovered(ConfigMaps)];
    });
    const a = await owners.create(owner('a'));
    await dependents.create(dependent('d', [refTo(a)]));
    await owners.delete(key('a'));
    await settled();
    expect(await names()).toEqual(['d']);
    client.discovered = [discovered(ConfigMaps), discovered(Secrets)];
    await clock.advance(30_000);
    expect(await names()).toEqual([]);
    expect(client.watching).toBe(2);
    client.discovered = [discovered(Secrets)];
    await clock.advance(30_000);
    expect(client.watching).toBe(1);
  });

  const unlistable = ({ verb, plural }: { readonly verb: string; readonly plural: string }) =>
    verb === 'list' && plural === 'widgets' ? serviceUnavailable('conversion webhook failed') : undefined;

  test('watches are started in turns, and nothing is judged before all of them are synced', async () => {
    const types = [ConfigMaps, Secrets, Namespaces];
    const clock = new FakeClock();
    const client = new FakeClient(clock);
    client.discovered = types.map((type) => discovered(type));
    const { signal } = new AbortController();
    const context = { client, clock, log: silentLogger, signal, metrics: undefined };
    const monitors = new Monitors(context, { changed: () => {}, replaced: () => {} }, defaultDomains);
    const seen: (number | boolean)[][] = [];
    let isReady = false;
    vi.spyOn(TurnTaking.prototype, 'isDue', 'get').mockReturnValue(true);
    vi.spyOn(TurnTaking.prototype, 'next').mockImplementation(async () => {
      await settled();
      if (seen.length === 0) void monitors.ready().then(() => (isReady = true));
      seen.push([client.watching, monitors.unlisted().length, isReady]);
    });
    await monitors.refresh();
    vi.restoreAllMocks();
    expect(seen).toEqual([
      [0, 3, false],
      [1, 2, false],
      [2, 1, false],
    ]);
    await monitors.ready();
    expect(monitors.unlisted()).toEqual([]);
  });

  test('a resource that cannot be listed at the start is waited for half a minute', async () => {
    const { clock, owners, dependents, names, key, complaints } = await start((api) => {
      api.fail = unlistable;
      api.discovered = [...api.discovered, discovered(Widgets)];
    });
    const a = await owners.create(owner('a'));
    await dependents.create(dependent('d', [refTo(a)]));
    await owners.delete(key('a'));
    await clock.advance(29_999);
    expect(await names()).toEqual(['d']);
    await clock.advance(1);
    expect(await names()).toEqual([]);
    expect(complaints).toContain('continuing without a resource that cannot be listed: ');
  });

  test.each([
    ['is served', (served: FakeClient['discovered']) => served.filter(({ plural }) => plural !== 'widgets')],
    [
      'is served in another version',
      (served: FakeClient['discovered']) => [
        ...served.filter(({ plural }) => plural !== 'widgets'),
        discovered({ ...Widgets, version: 'v2' }),
      ],
    ],
  ])('a resource that cannot be listed and %s later is not waited for', async (_, before) => {
    const { client, clock, owners, dependents, names, key } = await start((api) => {
      api.discovered = before([...api.discovered, discovered(Widgets)]);
    });
    const a = await owners.create(owner('a'));
    await dependents.create(dependent('d', [refTo(a)]));
    client.fail = unlistable;
    client.discovered = [...client.discovered.filter(({ plural }) => plural !== 'widgets'), discovered(Widgets)];
    await clock.advance(30_000);
    await owners.delete(key('a'));
    await settled();
    expect(client.calls.some(({ verb, plural }) => verb === 'list' && plural === 'widgets')).toBe(true);
    expect(await names()).toEqual([]);
  });

  test('an owner of an unlistable kind that is served later keeps its dependents', async () => {
    const { client, clock, names, key } = await start();
    client.fail = unlistable;
    client.discovered = [...client.discovered, discovered(Widgets)];
    await clock.advance(30_000);
    const widgets = await widgetThatOwns(client, 'd');
    await clock.advance(60_000);
    expect(await names()).toEqual(['d']);
    await widgets.delete(key('w'));
    await clock.advance(10_000);
    expect(await names()).toEqual([]);
  });

  test('the removal of an unlistable resource is noticed while many objects wait for it', async () => {
    const { client, owners, dependents, names, key } = await start((api) => {
      api.fail = unlistable;
      api.discovered = [...api.discovered, discovered(CustomResourceDefinitions), discovered(Widgets)];
    });
    const served = client.discovered.filter(({ plural }) => plural !== 'widgets');
    const a = await owners.create(owner('a'));
    for (let i = 0; i < 10; i++) await dependents.create(dependent(`d${i}`, [refTo(a)]));
    await owners.delete(key('a'));
    await settled();
    expect((await names()).length).toBe(10);
    client.discovered = served;
    const metadata = { name: 'widgets.example.com' };
    const spec = {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [],
    };
    await client
      .resource<ApiObject>(CustomResourceDefinitions)
      .create({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata, spec } as ApiObject);
    await settled();
    expect(await names()).toEqual([]);
  });

  test('discovery runs often for seconds after a definition changed, even if the clock is set back', async () => {
    const { client, clock } = await start((api) => {
      api.discovered = [...api.discovered, discovered(CustomResourceDefinitions)];
    });
    const metadata = { name: 'widgets.example.com' };
    await client
      .resource<ApiObject>(CustomResourceDefinitions)
      .create({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata });
    await settled();
    clock.set(clock.now() - 3_600_000);
    const asked = () => client.calls.filter(({ verb }) => verb === 'discover').length;
    const before = asked();
    await clock.advance(65_000);
    expect(asked() - before).toBe(7);
  });

  test('discovery runs again after the usual period, and soon after a failure', async () => {
    const { client, clock, owners, dependents, names, key, complaints } = await start((api) => {
      api.fail = ({ verb }) => (verb === 'discover' ? serviceUnavailable('no discovery') : undefined);
    });
    const a = await owners.create(owner('a'));
    await dependents.create(dependent('d', [refTo(a)]));
    await owners.delete(key('a'));
    const asked = () => client.calls.filter(({ verb }) => verb === 'discover').length;
    await clock.advance(3_000);
    expect(asked()).toBe(3);
    await clock.advance(600_000);
    expect(complaints[0]).toBe('discovery failed: no discovery');
    client.fail = () => undefined;
    await clock.advance(30_000);
    expect(await names()).toEqual([]);
  });

  test('a foreground deletion does not wait for unlistable resources', async () => {
    const { client, clock, owners, key } = await start((api) => {
      api.fail = unlistable;
      api.discovered = [...api.discovered, discovered(Widgets)];
    });
    await owners.create(owner('a'));
    await owners.delete(key('a'), { propagationPolicy: 'Foreground' });
    await clock.advance(30_000);
    expect(await owners.get(key('a'))).toBeUndefined();
    expect(client.calls.some(({ plural }) => plural === 'widgets')).toBe(true);
  });

  test.each([
    ['can be listed', (client: FakeClient) => (client.fail = () => undefined)],
    [
      'is no longer served',
      (client: FakeClient) => (client.discovered = [discovered(ConfigMaps), discovered(Secrets)]),
    ],
  ])('an orphaning owner stays until a resource that may have dependents %s', async (_, mend) => {
    const { client, clock, owners, dependents, key } = await start((api) => {
      api.fail = unlistable;
      api.discovered = [...api.discovered, discovered(Widgets)];
    });
    const a = await owners.create(owner('a'));
    await dependents.create(dependent('d', [refTo(a)]));
    const widgets = client.resource<ApiObject>(Widgets);
    const metadata = { name: 'w', namespace: 'n', ownerReferences: [refTo(a)] };
    await widgets.create({ apiVersion: 'example.com/v1', kind: 'Widget', metadata });
    await owners.delete(key('a'), { propagationPolicy: 'Orphan' });
    await clock.advance(600_000);
    expect((await dependents.get(key('d')))?.metadata.ownerReferences ?? []).toEqual([]);
    expect((await owners.get(key('a')))?.metadata.finalizers).toEqual(['orphan']);
    mend(client);
    await clock.advance(100_000);
    expect(await owners.get(key('a'))).toBeUndefined();
    expect(await widgets.get(key('w'))).toBeDefined();
  });

  test('an orphaning owner in a namespace does not wait for cluster-scoped resources', async () => {
    const { clock, owners, key } = await start((api) => {
      api.fail = unlistable;
      api.discovered = [...api.discovered, discovered({ ...Widgets, namespaced: false })];
    });
    await owners.create(owner('a'));
    await owners.delete(key('a'), { propagationPolicy: 'Orphan' });
    await clock.advance(30_000);
    expect(await owners.get(key('a'))).toBeUndefined();
  });

  test('dependents are deleted with an owner that went while its resource changed its version', async () => {
    const { client, clock, names, key } = await start((api) => {
      api.discovered = [...api.discovered, discovered(Widgets)];
    });
    const served = client.discovered;
    const widgets = await widgetThatOwns(client, 'd');
    client.fail = unlistable;
    client.discovered = [
      ...served.filter(({ plural }) => plural !== 'widgets'),
      discovered({ ...Widgets, version: 'v2' }),
    ];
    await clock.advance(30_000);
    await widgets.delete(key('w'));
    client.discovered = served;
    await clock.advance(30_000);
    expect(await names()).toEqual(['d']);
    client.fail = () => undefined;
    await clock.advance(60_000);
    expect(await names()).toEqual([]);
  });

  test('resources of an undiscoverable group stay watched until they are no longer served', async () => {
    const { client, clock, names, key } = await start((api) => {
      api.discovered = [...api.discovered, discovered(Widgets)];
    });
    const widgets = await widgetThatOwns(client, 'd');
    const { watching } = client;
    client.discovered = client.discovered.filter(({ group }) => group === '');
    client.undiscovered = [{ group: 'example.com', version: 'v1', message: 'no' }];
    await clock.advance(90_000);
    expect(client.watching).toBe(watching);
    await widgets.delete(key('w'));
    await settled();
    expect(await names()).toEqual([]);
    expect(client.calls.filter(({ verb, plural }) => verb === 'list' && plural === 'widgets').length).toBe(1);
    client.undiscovered = [];
    await clock.advance(30_000);
    expect(client.watching).toBe(watching - 2);
  });

  test('a thousand dependents are deleted with their owner', async () => {
    const { owners, dependents, names, key } = await start();
    const a = await owners.create(owner('a'));
    for (let i = 0; i < 1_000; i++) await dependents.create(dependent(`d${i}`, [refTo(a)]));
    await owners.delete(key('a'));
    await eventually(names, ({ length }) => length === 0);
  });
});

test('the graph knows the dependents of unknown owners', () => {
  const graph = new OwnerGraph();
  const node = nodeOf(Secrets, {
    ...dependent('d', [refTo(owner('a'), { uid: 'unknown' })]),
    metadata: { name: 'd', uid: 'd', ownerReferences: [refTo(owner('a'), { uid: 'unknown' })] },
  });
  graph.put(node);
  expect(graph.dependentsOf('unknown').map(({ uid }) => uid)).toEqual(['d']);
  graph.put({ ...node, owners: [] });
  expect(graph.dependentsOf('unknown')).toEqual([]);
  graph.remove('d');
  expect(graph.size).toBe(0);
});

test('replacing thousands of owners is done in short steps', async () => {
  const owned = (prefix: string) =>
    nodeOf(Secrets, {
      ...dependent('d', []),
      metadata: {
        name: 'd',
        uid: 'd',
        ownerReferences: Array.from({ length: 9_600 }, (_, i) => refTo(owner('a'), { uid: `${prefix}-owner-${i}` })),
      },
    });
  const ownership = new Ownership(() => {}, { record: () => {} } as unknown as ConstructorParameters<
    typeof Ownership
  >[1]);
  const [before, after] = [owned('before'), owned('after')];
  await expectShort(150, () => {
    ownership.learn(before);
    ownership.learn(after);
  });
  expect(ownership.graph.dependentsOf('after-owner-7').map(({ uid }) => uid)).toEqual(['d']);
});

test('the graph remembers a deleted object while another one refers to it', () => {
  const graph = new OwnerGraph();
  const node = (uid: string, ...owners: readonly string[]) =>
    nodeOf(Secrets, {
      ...dependent(uid, []),
      metadata: { name: uid, namespace: 'n', uid, ownerReferences: owners.map((of) => refTo(owner(of), { uid: of })) },
    });
  const isGone = (uid: string): boolean => graph.gone(uid) !== undefined;
  for (const one of [node('a'), node('b', 'z'), node('d', 'a'), node('e', 'a', 'b')]) graph.put(one);
  for (const uid of ['a', 'b', 'd']) graph.end(uid);
  expect(['a', 'b', 'd'].map(isGone)).toEqual([true, true, false]);
  expect(graph.gone('b')?.owners).toEqual([]);
  graph.put(node('e', 'b'));
  expect(['a', 'b'].map(isGone)).toEqual([false, true]);
  graph.put(node('b'));
  expect(isGone('b')).toBe(false);
  graph.end('b');
  graph.end('e');
  expect(['a', 'b', 'e'].map(isGone)).toEqual([false, false, false]);
});

describe('absent owners', () => {
  const reference = (uid: string, more: Partial<OwnerReference> = {}): OwnerReference => ({
    ...refTo(owner('a')),
    apiVersion: 'example.com/v1',
    uid,
    ...more,
  });
  const inNamespace = (namespace: string | undefined) =>
    nodeOf(Secrets, {
      ...dependent('d', []),
      metadata: { name: 'd', ...(namespace === undefined ? {} : { namespace }) },
    });

  test.each([
    ['n', 'n', {}, true],
    ['n', 'n', { apiVersion: 'example.com/v2', blockOwnerDeletion: true }, true],
    ['n', 'm', {}, false],
    ['n', undefined, {}, false],
    [undefined, 'n', {}, true],
    [undefined, undefined, {}, true],
    ['n', 'n', { uid: 'other' }, false],
    ['n', 'n', { name: 'other' }, false],
    ['n', 'n', { kind: 'Other' }, false],
    ['n', 'n', { apiVersion: 'v1' }, false],
  ])('in %s, looked up from %s with %j: %s', (place, from, more, expected) => {
    const absent = new AbsentOwners();
    absent.add(reference('u'), place);
    expect(absent.has(reference('u', more), inNamespace(from))).toBe(expected);
  });

  test('remember the 500 last used', () => {
    const absent = new AbsentOwners();
    const isKnown = (at: number): boolean => absent.has(reference(`u${at}`), inNamespace('n'));
    for (let at = 0; at < 500; at++) absent.add(reference(`u${at}`), 'n');
    expect(isKnown(0)).toBe(true);
    absent.add(reference('u500'), 'n');
    expect([0, 1, 2, 500].map(isKnown)).toEqual([true, false, true, true]);
  });
});
