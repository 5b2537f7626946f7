import assert from 'node:assert/strict';
import { ApiError, type Reason } from '../api/errors.js';
import { type ConfigMap, ConfigMaps } from '../api/kinds/config-map.js';
import { type Namespace, Namespaces } from '../api/kinds/namespace.js';
import { ClusterRoles } from '../api/kinds/role.js';
import { type ApiObject, type ObjectKey, resourceType } from '../api/object.js';
import type { Client, WatchEvent } from '../client/client.js';
import { type Observable, Subscription } from '../runtime/observable.js';
import type { ContractCase } from './contract-case.js';

/** A client to examine, with a namespace for it. */
export interface ClientUnderTest {
  readonly client: Client;
  /** An empty namespace that may be written to. */
  readonly namespace: string;
  close?(): Promise<void> | void;
}

const Unserved = resourceType<ApiObject>({
  group: 'unserved.example.com',
  version: 'v1',
  plural: 'nothings',
  kind: 'Nothing',
  namespaced: true,
});

/** Returns every promise of `Client` as a case for any test runner. `open` is called for each case. */
export function clientContract(open: () => Promise<ClientUnderTest>): readonly ContractCase[] {
  return promises.map(({ name, hold }) => ({
    name,
    async run() {
      const under = await open();
      try {
        await hold(contractContext(under));
      } finally {
        await under.close?.();
      }
    },
  }));
}

const contractContext = ({ client, namespace }: ClientUnderTest) => {
  const configMaps = client.resource(ConfigMaps);
  const configMap = (name: string, more: Partial<ConfigMap> = {}): ConfigMap => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    ...more,
    metadata: { name, namespace, ...more.metadata },
  });
  const create = (name: string, more: Partial<ConfigMap> = {}): Promise<ConfigMap> =>
    configMaps.create(configMap(name, more));
  const key = (name: string) => ({ namespace, name });
  const names = async (options: object): Promise<readonly string[]> =>
    (await configMaps.list({ namespace, ...options })).items.map(({ metadata }) => metadata.name ?? '');
  return { client, namespace, configMaps, configMap, create, key, names };
};
type ContractContext = ReturnType<typeof contractContext>;

async function fails(action: Promise<unknown>, reason: Reason): Promise<ApiError> {
  const outcome = await action.then(
    () => 'no failure',
    (error: unknown) => error,
  );
  assert.ok(outcome instanceof ApiError, `expected ${reason}, got ${String(outcome)}`);
  assert.equal(outcome.reason, reason);
  return outcome;
}

const eventText = (event: WatchEvent<ApiObject>): string =>
  event.type === 'BOOKMARK' ? `BOOKMARK ${event.initialEventsEnd}` : `${event.type} ${event.object.metadata.name}`;

interface ClientPromise {
  readonly name: string;
  hold(world: ContractContext): Promise<void>;
}

const promises: readonly ClientPromise[] = [
  {
    name: 'getting a missing object returns undefined',
    hold: async ({ configMaps, key }) => {
      assert.equal(await configMaps.get(key('missing')), undefined);
    },
  },
  {
    name: 'a created object is returned and read with everything that the server adds',
    hold: async ({ configMaps, create, key }) => {
      const created = await create('a', { data: { k: 'v' } });
      assert.ok(created.metadata.uid && created.metadata.resourceVersion && created.metadata.creationTimestamp);
      assert.deepEqual(await configMaps.get(key('a')), created);
      assert.deepEqual(created.data, { k: 'v' });
    },
  },
  {
    name: 'generateName generates a name',
    hold: async ({ configMaps, configMap, namespace }) => {
      const { name: _, ...metadata } = configMap('x', { metadata: { namespace, generateName: 'made-' } }).metadata;
      const created = await configMaps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
      assert.match(created.metadata.name ?? '', /^made-.{5}$/);
    },
  },
  {
    name: 'arguments and results belong to the caller: changing them changes nothing else',
    hold: async ({ configMaps, configMap, key, namespace }) => {
      const change = (object: ApiObject | undefined): void => {
        const { data, metadata } = object as unknown as { data?: { k: string }; metadata: Record<string, unknown> };
        metadata['labels'] = { changed: 'yes' };
        if (data !== undefined) data.k = 'changed';
      };
      const sent = configMap('a', { data: { k: '1' } });
      const created = await configMaps.create(sent);
      const now = async (): Promise<ConfigMap> => {
        const found = await configMaps.get(key('a'));
        assert.ok(found !== undefined);
        return found;
      };
      const before = await now();
      const unchanged = async (object: ApiObject | undefined): Promise<void> => {
        change(object);
        assert.deepEqual({ ...(await now()).data }, { k: '1' });
        assert.equal((await now()).metadata.labels, undefined);
      };
      await unchanged(sent);
      await unchanged(created);
      await unchanged(before);
      await unchanged((await configMaps.list({ namespace })).items.find(({ metadata }) => metadata.name === 'a'));
      await unchanged(
        (await configMaps.list({ namespace, metadataOnly: true })).items.find(({ metadata }) => metadata.name === 'a'),
      );
      const watched = await firstEvents(1, configMaps.watch({ namespace }));
      for (const event of watched) if (event.type !== 'BOOKMARK') await unchanged(event.object);
      await unchanged(await configMaps.update({ ...(await now()), immutable: true }));
      const current = await now();
      change(current);
      await fails(configMaps.update(current), 'Invalid');
    },
  },
  {
    name: 'objects are written as their JSON: undefined members are left out',
    hold: async ({ configMaps, configMap, create, key, namespace }) => {
      const odd = (values: Readonly<Record<string, unknown>>) => values as Readonly<Record<string, string>>;
      const sent = configMap('a', {
        metadata: {
          name: 'a',
          namespace,
          labels: odd({ team: undefined, l: '1' }),
          annotations: odd({ x: undefined }),
        },
        data: odd({ none: undefined, call: () => 'v', date: new Date(0), own: { toJSON: () => 'v' }, k: 'v' }),
      });
      const created = await configMaps.create(sent);
      assert.deepEqual(created.metadata.labels, { l: '1' });
      assert.equal(created.metadata.annotations, undefined);
      assert.deepEqual(created.data, { date: '1970-01-01T00:00:00.000Z', own: 'v', k: 'v' });
      assert.doesNotMatch(JSON.stringify(created.metadata.managedFields), /team|none|call/);
      const updated = await configMaps.update({ ...created, data: odd({ ...created.data, k: undefined }) });
      assert.deepEqual(Object.keys(updated.data ?? {}), ['date', 'own']);
      const body = { data: odd({ date: undefined, own: 'w' }) };
      const patched = await configMaps.patch(key('a'), { type: 'merge', body });
      assert.deepEqual(patched.data, { date: '1970-01-01T00:00:00.000Z', own: 'w' });
      const bare = { name: 'c', namespace, labels: undefined, ownerReferences: undefined };
      const applied = await configMaps.patch(key('c'), {
        type: 'apply',
        body: configMap('c', { metadata: bare }),
        fieldManager: 'm',
      });
      assert.equal(applied.metadata.managedFields?.[0]?.fieldsV1?.['f:metadata'], undefined);
      await create('b', { data: odd({ number: Number.NaN }) });
      assert.deepEqual((await configMaps.get(key('b')))?.data, { number: '' });
    },
  },
  {
    name: 'an unknown field fails a strict write only',
    hold: async ({ configMaps, configMap, key }) => {
      const misspelt = { dta: { k: 'v' } };
      const fieldValidation = 'Strict';
      await fails(configMaps.create({ ...configMap('a'), ...misspelt }, { fieldValidation }), 'BadRequest');
      const created = await configMaps.create({ ...configMap('a'), ...misspelt }, { fieldValidation: 'Warn' });
      assert.ok(!('dta' in created));
      const patch = { type: 'merge', body: misspelt } as const;
      await fails(configMaps.patch(key('a'), patch, { fieldValidation }), 'Invalid');
      await configMaps.patch(key('a'), patch, { fieldValidation: 'Ignore' });
    },
  },
  {
    name: 'lone surrogates in a string are replaced',
    hold: async ({ configMaps, create, key, configMap }) => {
      const broken = { '\ud83d': '1' };
      await fails(configMaps.create(configMap('a', { data: broken })), 'Invalid');
      await create('a', { data: { k: 'half of \ud83d and \ude00', whole: '\ud83d\ude00' } });
      assert.deepEqual((await configMaps.get(key('a')))?.data, {
        k: 'half of \ufffd and \ufffd',
        whole: '\ud83d\ude00',
      });
    },
  },
  {
    name: 'arguments are read when the call is made',
    hold: async ({ configMaps, configMap, key }) => {
      const data = { k: '1' };
      const creating = configMaps.create(configMap('a', { data }));
      data.k = 'changed';
      const created = await creating;
      assert.deepEqual(created.data, { k: '1' });
      const next = { ...created, data: { k: '2' } };
      const updating = configMaps.update(next);
      next.data.k = 'changed';
      assert.deepEqual((await updating).data, { k: '2' });
      const body = { data: { k: '3' } };
      const patching = configMaps.patch(key('a'), { type: 'merge', body });
      body.data.k = 'changed';
      assert.deepEqual((await patching).data, { k: '3' });
    },
  },
  {
    name: 'creating a second object with the same name fails',
    hold: async ({ create }) => {
      await create('a');
      const error = await fails(create('a'), 'AlreadyExists');
      assert.equal(error.code, 409);
      assert.equal(error.details?.name, 'a');
    },
  },
  {
    name: 'updating an object that was changed meanwhile fails',
    hold: async ({ configMaps, create }) => {
      const first = await create('a');
      await configMaps.update({ ...first, data: { k: '1' } });
      await fails(configMaps.update({ ...first, data: { k: '2' } }), 'Conflict');
    },
  },
  {
    name: 'updating a missing object fails',
    hold: async ({ configMaps, configMap }) => void (await fails(configMaps.update(configMap('a')), 'NotFound')),
  },
  {
    name: 'a merge patch changes only the fields it contains',
    hold: async ({ configMaps, create, key }) => {
      await create('a', { data: { keep: '1', drop: '2' } });
      const patched = await configMaps.patch(key('a'), { type: 'merge', body: { data: { drop: null, add: '3' } } });
      assert.deepEqual(patched.data, { keep: '1', add: '3' });
      await fails(configMaps.patch(key('b'), { type: 'merge', body: {} }), 'NotFound');
    },
  },
  {
    name: 'apply creates an object, then changes it',
    hold: async ({ configMaps, configMap, key }) => {
      const apply = (data: Readonly<Record<string, string>>): Promise<ConfigMap> => {
        const { apiVersion, kind, metadata } = configMap('a');
        const body = {
          apiVersion,
          kind,
          metadata: { name: metadata.name ?? '', namespace: metadata.namespace ?? '' },
          data,
        };
        return configMaps.patch(key('a'), { type: 'apply', body, fieldManager: 'contract', force: true });
      };
      await apply({ k: '1' });
      assert.deepEqual((await apply({ k: '2' })).data, { k: '2' });
    },
  },
  {
    name: 'delete deletes an object, and fails for a missing one',
    hold: async ({ configMaps, create, key }) => {
      await create('a');
      await configMaps.delete(key('a'));
      assert.equal(await configMaps.get(key('a')), undefined);
      await fails(configMaps.delete(key('a')), 'NotFound');
    },
  },
  {
    name: 'an invalid name reaches neither an object nor a collection',
    hold: async ({ client, configMaps, create, namespace, names }) => {
      await create('a');
      for (const name of ['', '.', '..', '../../other', 'a/b', 'a%2Fb']) {
        const key = { namespace, name };
        await fails(configMaps.get(key), 'BadRequest');
        await fails(configMaps.delete(key), 'BadRequest');
      }
      await fails(configMaps.patch({ namespace, name: '..' }, { type: 'merge', body: {} }), 'BadRequest');
      assert.deepEqual(await names({}), ['a']);
      assert.equal((await client.resource(Namespaces).get({ name: namespace }))?.metadata.deletionTimestamp, undefined);
    },
  },
  {
    name: 'an object without a name is rejected',
    hold: async ({ configMaps, configMap, create, namespace }) => {
      const { metadata: _, ...nameless } = configMap('a');
      const unnamed = { ...nameless, metadata: { namespace } };
      const { message } = await fails(configMaps.update(unnamed), 'BadRequest');
      assert.equal(message, 'Name parameter required.');
      await fails(configMaps.subresource('status').update(unnamed), 'BadRequest');
      await create('a');
      await fails(configMaps.get(unnamed.metadata as ObjectKey), 'BadRequest');
    },
  },
  {
    name: 'an invalid namespace reaches nothing',
    hold: async ({ configMaps, configMap }) => {
      for (const namespace of ['.', '..', 'a/b', 'a%2Fb']) {
        const key = { namespace, name: 'a' };
        const { message } = await fails(configMaps.get(key), 'BadRequest');
        assert.match(message, /^Namespace parameter invalid: /);
        await fails(configMaps.list({ namespace }), 'BadRequest');
        await fails(firstEvents(1, configMaps.watch({ namespace })), 'BadRequest');
        await fails(configMaps.create(configMap('a', { metadata: key })), 'BadRequest');
        await fails(configMaps.update(configMap('a', { metadata: key })), 'BadRequest');
        await fails(configMaps.patch(key, { type: 'merge', body: {} }), 'BadRequest');
        await fails(configMaps.delete(key), 'BadRequest');
        await fails(configMaps.deleteCollection({ namespace }), 'BadRequest');
      }
    },
  },
  {
    name: 'without a namespace a namespaced type can only be listed and watched',
    hold: async ({ configMaps, configMap, create, names }) => {
      await create('a');
      for (const namespace of [undefined, '']) {
        const key = { namespace, name: 'a' };
        const metadata = { name: 'a', ...(namespace === undefined ? {} : { namespace }) };
        const placeless = { ...configMap('a'), metadata };
        const { message } = await fails(configMaps.get(key), 'BadRequest');
        assert.equal(message, 'Namespace parameter required.');
        await fails(configMaps.create(placeless), 'BadRequest');
        await fails(configMaps.update(placeless), 'BadRequest');
        await fails(configMaps.patch(key, { type: 'merge', body: {} }), 'BadRequest');
        await fails(configMaps.delete(key), 'BadRequest');
        await fails(configMaps.deleteCollection({ namespace }), 'BadRequest');
        await fails(configMaps.subresource('status').get(key), 'BadRequest');
        assert.ok((await names({ namespace })).includes('a'));
      }
    },
  },
  {
    name: 'an invalid subresource reaches nothing',
    hold: async ({ client, namespace }) => {
      for (const name of ['', '.', '..', 'a/b']) {
        const nothing = client.resource(Namespaces).subresource(name);
        const { message } = await fails(nothing.get({ name: namespace }), 'BadRequest');
        assert.match(message, /^Subresource parameter (required|invalid: )/);
        await fails(nothing.patch({ name: namespace }, { type: 'merge', body: {} }), 'BadRequest');
      }
    },
  },
  {
    name: 'a cluster-scoped object is not found in a namespace',
    hold: async ({ client, namespace }) => {
      for (const resource of [client.resource(Namespaces), client.resource(ClusterRoles)]) {
        await fails(resource.get({ namespace, name: namespace }), 'NotFound');
        await fails(resource.list({ namespace }), 'NotFound');
      }
      const namespaces = client.resource(Namespaces);
      const found = await namespaces.get({ name: namespace });
      assert.ok(found);
      await fails(namespaces.update({ ...found, metadata: { ...found.metadata, namespace } }), 'NotFound');
    },
  },
  {
    name: 'delete checks its preconditions',
    hold: async ({ configMaps, create, key }) => {
      const { metadata } = await create('a');
      await fails(configMaps.delete(key('a'), { preconditions: { uid: 'another' } }), 'Conflict');
      await configMaps.delete(key('a'), { preconditions: { uid: metadata.uid ?? '' } });
    },
  },
  {
    name: 'a dry run changes nothing',
    hold: async ({ configMaps, configMap, create, key }) => {
      await configMaps.create(configMap('a'), { dryRun: true });
      assert.equal(await configMaps.get(key('a')), undefined);
      await create('a');
      await configMaps.delete(key('a'), { dryRun: true });
      assert.ok(await configMaps.get(key('a')));
    },
  },
  {
    name: 'a list is ordered, and its items have apiVersion and kind',
    hold: async ({ configMaps, create, namespace, names }) => {
      for (const name of ['b', 'a', 'c']) await create(name);
      assert.deepEqual(await names({}), ['a', 'b', 'c']);
      const { items, metadata } = await configMaps.list({ namespace });
      assert.ok(items.every(({ kind, apiVersion }) => kind === 'ConfigMap' && apiVersion === 'v1'));
      assert.match(metadata.resourceVersion, /^\d+$/);
    },
  },
  {
    name: 'a list is filtered by labels, fields and namespace',
    hold: async ({ configMaps, create, names, namespace }) => {
      await create('a', { metadata: { name: 'a', namespace, labels: { l: '1' } } });
      await create('b', { metadata: { name: 'b', namespace, labels: { l: '2' } } });
      assert.deepEqual(await names({ labelSelector: 'l in (2,3)' }), ['b']);
      assert.deepEqual(await names({ fieldSelector: 'metadata.name=a' }), ['a']);
      assert.deepEqual(await names({ namespace: 'elsewhere' }), []);
      await fails(configMaps.list({ namespace, labelSelector: 'a b' }), 'BadRequest');
    },
  },
  {
    name: 'all pages of a list are of one revision',
    hold: async ({ configMaps, create, namespace, names }) => {
      for (const name of ['a', 'b', 'c']) await create(name);
      const first = await configMaps.list({ namespace, limit: 2 });
      assert.deepEqual(
        first.items.map(({ metadata }) => metadata.name),
        ['a', 'b'],
      );
      assert.ok(first.metadata.continue);
      assert.deepEqual(await names({ limit: 2, continue: first.metadata.continue }), ['c']);
    },
  },
  {
    name: 'deleting a collection deletes the selected objects',
    hold: async ({ configMaps, create, namespace, names }) => {
      await create('a', { metadata: { name: 'a', namespace, labels: { l: '1' } } });
      await create('b');
      await configMaps.deleteCollection({ namespace, labelSelector: 'l=1' });
      assert.deepEqual(await names({}), ['b']);
    },
  },
  {
    name: 'a type that is not served is not found',
    hold: async ({ client, key, namespace }) => {
      const nothings = client.resource(Unserved);
      await fails(nothings.list({ namespace }), 'NotFound');
      await fails(nothings.get(key('missing')), 'NotFound');
      await fails(nothings.subresource('status').get(key('missing')), 'NotFound');
    },
  },
  {
    name: 'a watch delivers every change after its version, in order',
    hold: async ({ configMaps, create, key, namespace }) => {
      await create('before');
      const { metadata } = await configMaps.list({ namespace });
      const seen = firstEvents(4, configMaps.watch({ namespace, resourceVersion: metadata.resourceVersion }));
      const a = await create('a');
      await configMaps.update({ ...a, data: { k: '1' } });
      await create('b');
      await configMaps.delete(key('a'));
      assert.deepEqual((await seen).map(eventText), ['ADDED a', 'MODIFIED a', 'ADDED b', 'DELETED a']);
    },
  },
  {
    name: 'a watch delivers large objects completely, and in order with small ones',
    hold: async ({ configMaps, create, key, namespace }) => {
      const large = { data: { k: 'x'.repeat(100_000) } };
      await create('first', large);
      const seen = firstEvents(6, configMaps.watch({ namespace, sendInitialEvents: true, allowBookmarks: true }));
      const a = await create('a', large);
      await create('b');
      await configMaps.update({ ...a, data: { ...large.data, more: '1' } });
      await configMaps.delete(key('a'));
      const events = await seen;
      assert.deepEqual(events.map(eventText), [
        'ADDED first',
        'BOOKMARK true',
        'ADDED a',
        'ADDED b',
        'MODIFIED a',
        'DELETED a',
      ]);
      const objects = events.flatMap((event) => (event.type === 'BOOKMARK' ? [] : [event.object]));
      assert.deepEqual(objects[1], a);
      assert.deepEqual(objects[3]?.data, { ...large.data, more: '1' });
    },
  },
  {
    name: 'a watch reports that it is open, even without events',
    hold: async ({ configMaps, namespace }) => {
      const { metadata } = await configMaps.list({ namespace });
      const subscription = new Subscription();
      await new Promise<void>((onOpen, error) => {
        const watch = configMaps.watch({ namespace, resourceVersion: metadata.resourceVersion, onOpen });
        subscription.add(watch.subscribe({ error }));
      });
      subscription.unsubscribe();
    },
  },
  {
    name: 'a watch is filtered like a list',
    hold: async ({ configMaps, create, namespace }) => {
      const { metadata } = await configMaps.list({ namespace });
      const options = { namespace, resourceVersion: metadata.resourceVersion, labelSelector: 'l=1' };
      const seen = firstEvents(2, configMaps.watch(options));
      await create('other');
      const a = await create('a', { metadata: { name: 'a', namespace, labels: { l: '1' } } });
      await configMaps.update({ ...a, metadata: { ...a.metadata, labels: {} } });
      assert.deepEqual((await seen).map(eventText), ['ADDED a', 'DELETED a']);
    },
  },
  {
    name: 'metadata-only reads return only metadata, with the kind of the object',
    hold: async ({ configMaps, create, key, namespace }) => {
      const a = await create('a', { data: { k: 'v' } });
      const { apiVersion, kind, metadata } = a;
      const bare = { apiVersion, kind, metadata };
      const list = await configMaps.list({ namespace, metadataOnly: true });
      assert.deepEqual(list.items, [bare]);
      const { resourceVersion } = list.metadata;
      const seen = firstEvents(2, configMaps.watch({ namespace, resourceVersion, metadataOnly: true }));
      const changed = await configMaps.update({ ...a, data: { k: '2' } });
      await configMaps.delete(key('a'));
      const [modified, deleted] = await seen;
      assert.deepEqual(modified, { type: 'MODIFIED', object: { ...bare, metadata: changed.metadata } });
      assert.ok(deleted?.type === 'DELETED');
      assert.deepEqual(Object.keys(deleted.object).sort(), ['apiVersion', 'kind', 'metadata']);
    },
  },
  {
    name: 'a watch without a version begins with the initial state, and can mark its end',
    hold: async ({ configMaps, create, namespace }) => {
      await create('a');
      const options = { namespace, sendInitialEvents: true, allowBookmarks: true };
      const events = await firstEvents(2, configMaps.watch(options));
      assert.deepEqual(events.map(eventText), ['ADDED a', 'BOOKMARK true']);
    },
  },
  {
    name: 'a watch without a version can skip the initial state',
    hold: async ({ configMaps, create, namespace }) => {
      await create('before');
      let first: WatchEvent<ConfigMap> | undefined;
      const seen = firstEvents(1, configMaps.watch({ namespace, sendInitialEvents: false })).then(([event]) => {
        first = event;
      });
      for (let count = 0; first === undefined; count++) await Promise.race([seen, create(`after-${count}`)]);
      assert.match(eventText(first), /^ADDED after-/);
    },
  },
  {
    name: 'a watch ends after its timeout',
    hold: async ({ configMaps, namespace }) => {
      const { metadata } = await configMaps.list({ namespace });
      const options = { namespace, resourceVersion: metadata.resourceVersion, timeoutSeconds: 1 };
      assert.deepEqual(await firstEvents(Number.POSITIVE_INFINITY, configMaps.watch(options)), []);
    },
  },
  {
    name: 'an invalid watch fails',
    hold: async ({ configMaps, namespace, client }) => {
      await fails(firstEvents(1, configMaps.watch({ namespace, fieldSelector: 'nonsense' })), 'BadRequest');
      await fails(firstEvents(1, client.resource(Unserved).watch({ namespace })), 'NotFound');
    },
  },
  {
    name: 'a subresource is a view of the same object',
    hold: async ({ client, namespace }) => {
      const namespaces = client.resource(Namespaces);
      const found = await namespaces.subresource<Namespace>('status').get({ name: namespace });
      assert.equal(found?.metadata.name, namespace);
      assert.equal(await namespaces.subresource('status').get({ name: 'missing' }), undefined);
    },
  },
  {
    name: 'discovery lists the served types',
    hold: async ({ client }) => {
      const found = (await client.discover()).find(({ group, plural }) => group === '' && plural === 'configmaps');
      assert.ok(found);
      const { kind, listKind, version, namespaced, verbs, preferred } = found;
      assert.deepEqual(
        { kind, listKind, version, namespaced, preferred },
        { kind: 'ConfigMap', listKind: 'ConfigMapList', version: 'v1', namespaced: true, preferred: true },
      );
      assert.ok(
        ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'].every((v) =>
          verbs.includes(v),
        ),
      );
    },
  },
];

/** Returns the first `count` events, or all if the stream ends before. */
const firstEvents = <T>(count: number, stream: Observable<T>): Promise<readonly T[]> =>
  new Promise((resolve, reject) => {
    const seen: T[] = [];
    const subscription = new Subscription();
    const running = stream.subscribe({
      next: (value) => {
        if (seen.push(value) < count) return;
        subscription.unsubscribe();
        resolve(seen);
      },
      error: reject,
      complete: () => resolve(seen),
    });
    subscription.add(running);
  });
