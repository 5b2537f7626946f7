import { expect, test } from 'vitest';
import { conflict, expired, tooManyRequests } from '../../src/api/errors.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import { connect } from '../../src/client/remote-client.js';
import type { Runnable } from '../../src/controller/controller.js';
import { defineController } from '../../src/controller/define-controller.js';
import { whileLeading } from '../../src/controller/leader.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { testServer } from '../../src/testing/test-server.js';
import { until } from '../../src/testing/until.js';
import { validatingWebhook } from '../../src/webhook/admission.js';
import { conversionWebhook } from '../../src/webhook/conversion.js';
import { Gadgets, gadgetDefinition } from './gadget.js';

test('a remote client reaches a server whose clock is in another year', async () => {
  const clock = new FakeClock(Date.UTC(2001, 0, 1));
  const { server, stop } = await testServer({ clock, controllers: [], listen: { port: 0 } });
  const client = await connect({ kubeconfigText: server.adminKubeconfig });
  try {
    expect(await client.resource(Namespaces).get({ name: 'default' })).toBeDefined();
  } finally {
    client.close();
    await stop();
  }
});

const gadget = { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'a', namespace: 'default' } };

test('initial definitions and objects are there before a runnable starts', async () => {
  const seen: string[] = [];
  const controller = defineController({
    name: 'gadgets',
    for: Gadgets,
    reconcile: async ({ metadata }) => void seen.push(metadata.name ?? ''),
  });
  await using _ = await testServer({
    clock: new FakeClock(),
    controllers: [],
    objects: [gadget, gadgetDefinition],
    runnables: [controller],
  });
  await expect.poll(() => seen).toEqual(['a']);
});

test('a server does not start with an invalid initial object', async () => {
  const wrong = { ...gadget, kind: 'ConfigMap', apiVersion: 'v1', dta: {} };
  await expect(testServer({ controllers: [], objects: [wrong] })).rejects.toThrow('unknown field "dta"');
});

test('a server does not start with runnables of the same name, and nothing of it is left', async () => {
  const twin = (): Runnable => defineController({ name: 'twin', for: ConfigMaps, reconcile: async () => {} });
  let url = '';
  const started = testServer({
    listen: { port: 0 },
    onListening: async (listening) => {
      url = listening.url;
    },
    runnables: [twin(), twin()],
  });
  await expect(started).rejects.toThrow('duplicate controller name twin');
  const { port } = new URL(url);
  const again = await testServer({ controllers: [], listen: { port: Number(port) } });
  await again.stop();
});

test('a test can make requests fail and wait, and sees every request', async () => {
  const asked: string[] = [];
  let conflicts = 2;
  const clock = new FakeClock();
  await using kit = await testServer({
    clock,
    controllers: [],
    listen: { port: 0 },
    intercept: async ({ user, verb, resource, subresource, namespace, name }) => {
      if (user.username !== 'test-admin' || resource !== 'configmaps') return;
      asked.push([verb, subresource, namespace, name].join(' '));
      if (verb === 'patch' && conflicts-- > 0) throw conflict({ group: '', plural: resource, name }, 'so it is wanted');
      if (verb === 'list') throw tooManyRequests('slow down', 1);
      if (verb === 'watch') throw expired('too old resource version');
      if (verb === 'delete') await clock.sleep(5_000);
      if (verb === 'get') throw new Error('a fault');
    },
  });
  const maps = kit.client.resource(ConfigMaps);
  const key = { namespace: 'default', name: 'a' };
  await maps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: key });
  const patch = () => maps.patch(key, { type: 'merge', body: { data: { a: '1' } } });
  await expect(patch()).rejects.toMatchObject({ reason: 'Conflict' });
  await expect(patch()).rejects.toMatchObject({ reason: 'Conflict' });
  expect((await patch()).data).toEqual({ a: '1' });
  await expect(maps.list()).rejects.toMatchObject({ reason: 'TooManyRequests', details: { retryAfterSeconds: 1 } });
  await expect(maps.get(key)).rejects.toMatchObject({ code: 500 });
  let isDeleted = false;
  const deleting = maps.delete(key).then(() => {
    isDeleted = true;
  });
  await clock.advance(4_000);
  expect(isDeleted).toBe(false);
  await clock.advance(1_000);
  await deleting;
  expect(asked).toEqual([
    'create  default ',
    ...Array(3).fill('patch  default a'),
    'list   ',
    'get  default a',
    'delete  default a',
  ]);
});

test('when a runnable has failed, waiting and stopping fail with its error', async () => {
  const trouble = new Error('it broke');
  const { client, stop } = await testServer({
    controllers: [],
    runnables: [{ name: 'broken', run: () => Promise.reject(trouble) }],
  });
  const waiting = until(client.resource(Namespaces), { name: 'a' }, (found) => found !== undefined);
  await expect(waiting).rejects.toBe(trouble);
  await expect(stop()).rejects.toBe(trouble);
});

test('a wait that times out reports the current error of a controller, but not a resolved one', async () => {
  let isSealed = true;
  const controller = defineController({
    name: 'gadgets',
    for: ConfigMaps,
    namespace: 'default',
    backoff: { baseMs: 1, capMs: 1 },
    reconcile: async () => {
      if (isSealed) throw new Error('the vault is sealed');
    },
  });
  const lines: string[] = [];
  const log = { ...silentLogger, info: (_: object, message: string) => void lines.push(message) };
  await using kit = await testServer({ controllers: [], runnables: [controller], log: { ...log, child: () => log } });
  const maps = kit.client.resource(ConfigMaps);
  const waited = () => until(maps, { namespace: 'default', name: 'b' }, (map) => map !== undefined, { timeoutMs: 50 });
  await maps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } });
  await expect(waited()).rejects.toThrow(
    'last seen: none; meanwhile: reconcile failed (gadgets, default/a): the vault is sealed',
  );
  isSealed = false;
  await expect.poll(() => lines).toContain('reconciled');
  await expect(waited()).rejects.toThrow(/last seen: none$/);
});

test('work that is due in two months is done after a jump of the clock', async () => {
  const clock = new FakeClock();
  const seen: number[] = [];
  const renewal = defineController({
    name: 'renewal',
    for: ConfigMaps,
    fieldSelector: 'metadata.name=a',
    async reconcile({ data }) {
      seen.push(Number(data?.['n']));
      return { requeueAfterMs: 60 * 86_400_000 };
    },
  });
  await using server = await testServer({ clock, runnables: [renewal] });
  const maps = server.client.resource(ConfigMaps);
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' }, data: { n: '1' } };
  await maps.create(map);
  await expect.poll(() => seen).toEqual([1]);
  await clock.jump(60 * 86_400_000);
  await expect.poll(() => seen).toEqual([1, 1]);
  await maps.update({ ...map, data: { n: '2' } });
  await expect.poll(() => seen.slice(2)).toContain(2);
});

const lease = { namespace: 'default', name: 'lock' };

test.each<[string, (busy: Runnable) => Runnable]>([
  ['a controller', (busy) => busy],
  ['a leader', (busy) => whileLeading({ lease, graceMs: 10 }, busy)],
])('%s waiting on a fake clock that does not move does not prevent a stop', async (_, wrapped) => {
  let isAtWork = false;
  const busy: Runnable = {
    name: 'busy',
    run: ({ clock }) => {
      isAtWork = true;
      return clock.sleep(60_000);
    },
  };
  const { stop } = await testServer({
    clock: new FakeClock(),
    controllers: [],
    runnables: [wrapped(busy)],
    graceMs: 100,
  });
  await expect.poll(() => isAtWork).toBe(true);
  await expect(stop()).rejects.toThrow(/busy did not stop within 10+ ms/);
});

test("a test's webhooks are called for configurations that name a service and their paths", async () => {
  const version = (name: string, isStored: boolean) => ({
    name,
    served: true,
    storage: isStored,
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    },
  });
  const service = (path: string) => ({ service: { namespace: 'default', name: 'hooks', path }, caBundle: 'bm9uZQ==' });
  const definition = {
    ...gadgetDefinition,
    spec: {
      ...gadgetDefinition.spec,
      versions: [version('v1', true), version('v2', false)],
      conversion: {
        strategy: 'Webhook',
        webhook: { clientConfig: service('/convert'), conversionReviewVersions: ['v1'] },
      },
    },
  };
  const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] };
  const hook = (name: string, path: string, failurePolicy: string) => ({
    name: `${name}.example.com`,
    clientConfig: service(path),
    rules: [rule],
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy,
  });
  const configuration = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'hooks' },
    webhooks: [hook('elsewhere', '/elsewhere', 'Ignore'), hook('deny', '/deny', 'Fail')],
  };
  const of2 = { ...Gadgets, version: 'v2' };
  await using kit = await testServer({
    controllers: [],
    objects: [definition, configuration, gadget],
    webhooks: {
      '/deny': validatingWebhook({ for: ConfigMaps, validate: ({ dryRun }) => `denied, dry run ${dryRun}` }),
      '/convert': conversionWebhook({
        hub: Gadgets,
        spokes: [
          {
            version: of2,
            toHub: (object) => object,
            fromHub: (object) => ({ ...object, spec: { converted: true } }),
          },
        ],
      }),
    },
  });
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } };
  const created = kit.client.resource(ConfigMaps).create(map, { dryRun: true });
  await expect(created).rejects.toThrow(
    'admission webhook "deny.example.com" denied the request: denied, dry run true',
  );
  const found = await kit.client.resource(of2).get({ namespace: 'default', name: 'a' });
  expect(found).toMatchObject({ apiVersion: 'example.com/v2', spec: { converted: true } });
});
