/**
 * A session of `@kubernetes/client-node`. Prints `ok <step>` for each step that succeeded, and `restart` to have the
 * server restarted, which is confirmed by a line on standard input. A failed step ends the program.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ApiException,
  ApiextensionsV1Api,
  AuthenticationV1Api,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  RbacAuthorizationV1Api,
  setHeaderOptions,
  VersionApi,
  Watch,
} from '@kubernetes/client-node';

const namespace = 'node-session';
const config = new KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(CoreV1Api);
const custom = config.makeApiClient(CustomObjectsApi);
const generic = KubernetesObjectApi.makeApiClient(config);
const widgets = { group: 'node.example.com', version: 'v1', namespace, plural: 'widgets' };

async function step(name, run) {
  await run();
  console.log(`ok ${name}`);
}

async function until(what, holds) {
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(20)) if (await holds()) return;
  throw new Error(`waited in vain: ${what}`);
}

const refused = (code) => (error) => error instanceof ApiException && error.code === code;
const configMap = (name, data = {}, labels = {}) => ({ metadata: { name, labels }, data });
const create = (name, data, labels) =>
  core.createNamespacedConfigMap({ namespace, body: configMap(name, data, labels), fieldManager: 'session' });
const get = (name) => core.readNamespacedConfigMap({ namespace, name });

await step('discovery', async () => {
  assert.equal((await config.makeApiClient(VersionApi).getCode()).major, '1');
});

await step('create and get', async () => {
  await core.createNamespace({ body: { metadata: { name: namespace } } });
  const created = await create('first', { key: 'value' });
  const found = await get('first');
  assert.deepEqual(found, created);
  assert.ok(found.metadata.creationTimestamp instanceof Date);
  assert.equal(found.metadata.managedFields[0].manager, 'session');
  await assert.rejects(create('first'), refused(409));
  await assert.rejects(create('Not A Name'), refused(422));
  await core.createNamespacedConfigMap({ namespace, body: configMap('dry'), dryRun: 'All' });
  await assert.rejects(get('dry'), refused(404));
});

await step('list in pages', async () => {
  for (let at = 0; at < 7; at++) await create(`page-${at}`, {}, { pages: 'yes' });
  const names = [];
  const versions = new Set();
  let token;
  do {
    const page = await core.listNamespacedConfigMap({
      namespace,
      labelSelector: 'pages=yes',
      limit: 3,
      _continue: token,
    });
    names.push(...page.items.map(({ metadata }) => metadata.name));
    versions.add(page.metadata.resourceVersion);
    if (token === undefined) await create('page-9', {}, { pages: 'yes' });
    token = page.metadata._continue;
  } while (token);
  assert.deepEqual(
    names,
    [0, 1, 2, 3, 4, 5, 6].map((at) => `page-${at}`),
  );
  assert.equal(versions.size, 1);
});

await step('watch', async () => {
  const { metadata } = await core.listNamespacedConfigMap({ namespace });
  const seen = [];
  const watch = new Watch(config);
  const done = Promise.withResolvers?.() ?? deferred();
  const running = await watch.watch(
    `/api/v1/namespaces/${namespace}/configmaps`,
    { resourceVersion: metadata.resourceVersion, allowWatchBookmarks: true },
    (phase, object) => {
      if (phase !== 'BOOKMARK') seen.push(`${phase} ${object.metadata.name}`);
      if (phase === 'DELETED') done.resolve();
    },
    () => done.resolve(),
  );
  const made = await create('watched', { n: '1' });
  await core.replaceNamespacedConfigMap({ namespace, name: 'watched', body: { ...made, data: { n: '2' } } });
  await core.deleteNamespacedConfigMap({ namespace, name: 'watched' });
  await done.promise;
  running.abort();
  assert.deepEqual(seen, ['ADDED watched', 'MODIFIED watched', 'DELETED watched']);
});

function deferred() {
  let resolve;
  const promise = new Promise((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

await step('update and conflict', async () => {
  const stale = await get('first');
  const changed = await core.replaceNamespacedConfigMap({
    namespace,
    name: 'first',
    body: { ...stale, data: { key: '2' } },
  });
  assert.notEqual(changed.metadata.resourceVersion, stale.metadata.resourceVersion);
  const again = await core.replaceNamespacedConfigMap({ namespace, name: 'first', body: changed });
  assert.equal(again.metadata.resourceVersion, changed.metadata.resourceVersion);
  await assert.rejects(core.replaceNamespacedConfigMap({ namespace, name: 'first', body: stale }), refused(409));
});

await step('apply', async () => {
  const apply = (fieldManager, data, force) =>
    core.patchNamespacedConfigMap(
      {
        namespace,
        name: 'applied',
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data },
        fieldManager,
        force,
      },
      setHeaderOptions('Content-Type', PatchStrategy.ServerSideApply),
    );
  await apply('one', { a: '1', b: '1' });
  await assert.rejects(apply('two', { a: '2' }), refused(409));
  await apply('two', { a: '2' }, true);
  assert.deepEqual((await apply('one', {})).data, { a: '2' });
});

await step('patch', async () => {
  const patch = (kind, body) =>
    core.patchNamespacedConfigMap({ namespace, name: 'first', body }, setHeaderOptions('Content-Type', kind));
  await patch(PatchStrategy.JsonPatch, [{ op: 'add', path: '/data/json', value: '1' }]);
  await patch(PatchStrategy.MergePatch, { data: { merge: '1' } });
  const { data } = await patch(PatchStrategy.StrategicMergePatch, { data: { strategic: '1', key: null } });
  assert.deepEqual(data, { json: '1', merge: '1', strategic: '1' });
});

await step('reviews and tokens', async () => {
  const authentication = config.makeApiClient(AuthenticationV1Api);
  const me = await authentication.createSelfSubjectReview({ body: {} });
  assert.ok(me.status.userInfo.username);
  await until('the default service account', async () =>
    core.readNamespacedServiceAccount({ namespace, name: 'default' }).then(
      () => true,
      () => false,
    ),
  );
  const { status } = await core.createNamespacedServiceAccountToken({
    namespace,
    name: 'default',
    body: { spec: { audiences: [], expirationSeconds: 3_600 } },
  });
  const review = await authentication.createTokenReview({ body: { spec: { token: status.token } } });
  assert.equal(review.status.user.username, `system:serviceaccount:${namespace}:default`);
  const rbac = config.makeApiClient(RbacAuthorizationV1Api);
  const rule = { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] };
  await rbac.createNamespacedRole({ namespace, body: { metadata: { name: 'reader' }, rules: [rule] } });
});

await step('custom resources', async () => {
  const definitions = config.makeApiClient(ApiextensionsV1Api);
  const name = 'widgets.node.example.com';
  const schema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: { size: { type: 'integer', minimum: 0 }, colour: { type: 'string', _default: 'red' } },
      },
      status: { type: 'object', properties: { phase: { type: 'string' } } },
    },
  };
  await definitions.createCustomResourceDefinition({
    body: {
      metadata: { name },
      spec: {
        group: widgets.group,
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            subresources: { status: {} },
            schema: { openAPIV3Schema: schema },
          },
        ],
      },
    },
  });
  await until('the definition is established', async () => {
    const { status } = await definitions.readCustomResourceDefinition({ name });
    return status?.conditions?.some((condition) => condition.type === 'Established' && condition.status === 'True');
  });
  const widget = (called, size) => ({
    apiVersion: 'node.example.com/v1',
    kind: 'Widget',
    metadata: { name: called, namespace },
    spec: { size },
  });
  const made = await custom.createNamespacedCustomObject({ ...widgets, body: widget('one', 3) });
  assert.equal(made.spec.colour, 'red');
  await assert.rejects(custom.createNamespacedCustomObject({ ...widgets, body: widget('wrong', -1) }), refused(422));
  const told = await custom.patchNamespacedCustomObjectStatus(
    { ...widgets, name: 'one', body: { status: { phase: 'ready' } } },
    setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
  );
  assert.equal(told.status.phase, 'ready');
  assert.equal(told.metadata.generation, 1);
  const second = await generic.create(widget('two', 1));
  assert.equal(second.spec.size, 1);
  const { items } = await custom.listNamespacedCustomObject(widgets);
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ['one', 'two'],
  );
  await generic.delete(widget('two', 1));
});

await step('informer through a restart', async () => {
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const informer = makeInformer(config, path, () => core.listNamespacedConfigMap({ namespace }));
  const seen = [];
  informer.on('add', ({ metadata }) => seen.push(`add ${metadata.name}`));
  informer.on('delete', ({ metadata }) => seen.push(`delete ${metadata.name}`));
  let running = true;
  informer.on('error', async () => {
    await sleep(100);
    if (running) await informer.start();
  });
  await informer.start();
  await create('before');
  await create('gone-while-away');
  await until('the informer sees what is written', () => informer.get('gone-while-away', namespace) !== undefined);
  console.log('restart');
  await once(process.stdin, 'data');
  process.stdin.unref?.();
  await create('after');
  await core.deleteNamespacedConfigMap({ namespace, name: 'before' });
  const state = (items) => items.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`).sort();
  await until('the informer is as the server is', async () => {
    const { items } = await core.listNamespacedConfigMap({ namespace });
    return JSON.stringify(state(items)) === JSON.stringify(state(informer.list(namespace)));
  });
  running = false;
  await informer.stop();
  for (const event of ['delete before', 'delete gone-while-away', 'add made-while-away', 'add after', 'add first'])
    assert.equal(seen.filter((other) => other === event).length, 1, event);
});

await step('delete', async () => {
  const { metadata } = await get('first');
  const remove = (uid) =>
    core.deleteNamespacedConfigMap({ namespace, name: 'first', body: { preconditions: uid ? { uid } : {} } });
  await assert.rejects(remove('other'), refused(409));
  await remove(metadata.uid);
  await assert.rejects(remove(), refused(404));
  await core.deleteCollectionNamespacedConfigMap({ namespace, labelSelector: 'pages=yes' });
  assert.deepEqual((await core.listNamespacedConfigMap({ namespace, labelSelector: 'pages=yes' })).items, []);
  await core.deleteNamespace({ name: namespace });
  await until('the namespace is gone', async () => {
    try {
      await core.readNamespace({ name: namespace });
      return false;
    } catch (error) {
      return refused(404)(error);
    }
  });
});
process.exit(0);
