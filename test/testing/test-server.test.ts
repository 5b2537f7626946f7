import { expect, test } from 'vitest';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import { connect } from '../../src/client/remote-client.js';
import type { Runnable } from '../../src/controller/controller.js';
import { defineController } from '../../src/controller/define-controller.js';
import { whileLeading } from '../../src/controller/leader.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { testServer } from '../../src/testing/test-server.js';
import { until } from '../../src/testing/until.js';
import { Gadgets, gadgetDefinition } from './gadget.js';

test('who is elsewhere reaches a server whose clock tells another year', async () => {
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

test('what is defined is served, and what is there from the start is there, before a runnable begins', async () => {
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

test('a server of which an object cannot be there does not start', async () => {
  const wrong = { ...gadget, kind: 'ConfigMap', apiVersion: 'v1', dta: {} };
  await expect(testServer({ controllers: [], objects: [wrong] })).rejects.toThrow('unknown field "dta"');
});

test('once a runnable failed, waiting for what it was to do fails with its error', async () => {
  const trouble = new Error('it broke');
  const { client, stop } = await testServer({
    controllers: [],
    runnables: [{ name: 'broken', run: () => Promise.reject(trouble) }],
  });
  const waiting = until(client.resource(Namespaces), { name: 'a' }, (found) => found !== undefined);
  await expect(waiting).rejects.toBe(trouble);
  await expect(stop()).rejects.toBe(trouble);
});

test('what is due in two months is done after a leap, and the server is well', async () => {
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
])('%s that waits by a clock that nobody moves keeps no server from stopping', async (_, wrapped) => {
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
