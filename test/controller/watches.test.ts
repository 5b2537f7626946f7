import { expect, test } from 'vitest';
import { untyped } from '../../src/api/errors.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Leases } from '../../src/api/kinds/lease.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import { openObjectCache } from '../../src/client/object-cache.js';
import type { ControllerSpec, Runnable } from '../../src/controller/controller.js';
import { controllerMetrics } from '../../src/controller/controller-metrics.js';
import { defineController } from '../../src/controller/define-controller.js';
import { defineKeyedController } from '../../src/controller/keyed-controller.js';
import { whileLeading } from '../../src/controller/leader.js';
import { createManager } from '../../src/controller/manager.js';
import { owned } from '../../src/controller/owned.js';
import { probeServer } from '../../src/controller/probe-server.js';
import { referredTo } from '../../src/controller/referred-to.js';
import { openMetrics } from '../../src/runtime/metrics.js';
import { FakeClock, settled } from '../../src/testing/fake-clock.js';
import { eventually } from '../../src/testing/until.js';
import { FakeClient } from '../fake-client.js';
import { reviewContext } from '../webhook/review.js';

/** Starts a manager with these runnables and a probe server, in which Secrets cannot be listed or watched. */
async function world(...runnables: readonly Runnable[]) {
  const clock = new FakeClock();
  const client = new FakeClient(clock);
  const { log, lines } = reviewContext();
  const metrics = openMetrics();
  const stop = new AbortController();
  let ready = async (): Promise<void> => {};
  client.fail = ({ plural }) => (plural === 'secrets' ? untyped('secrets is forbidden', 403) : undefined);
  const probes = probeServer({ host: '127.0.0.1', port: 0, metrics, ready: () => ready() });
  const running = createManager({ client, clock, log, metrics: controllerMetrics(metrics) })
    .add(...runnables, probes)
    .run(stop.signal);
  const { fields } = await eventually(
    async () => lines.find(({ message }) => message === 'serving probes') ?? { fields: {} },
    (line) => 'port' in line.fields,
  );
  const ask = async (path: string): Promise<readonly [number, string]> => {
    const answer = await fetch(`http://127.0.0.1:${(fields as { readonly port: number }).port}${path}`);
    return [answer.status, await answer.text()];
  };
  return {
    clock,
    client,
    lines,
    ask,
    failing: async () => (await ask('/metrics'))[1].match(/(?<=^kedge_watches_failing).*/gm),
    notReady: (because: Error) => {
      ready = () => Promise.reject(because);
    },
    async stop() {
      stop.abort();
      await running;
    },
  };
}

const reconcile = async (): Promise<void> => {};
const onSecrets = (alsoOn: ControllerSpec<never>['alsoOn']): Runnable =>
  defineController({ name: 'c', for: ConfigMaps, reconcile, ...(alsoOn && { alsoOn }) });
const lease = { namespace: 'n', name: 'l' };

test.each<[string, Runnable]>([
  ['the kind of a controller', defineController({ name: 'c', for: Secrets, reconcile })],
  ['what a controller owns', onSecrets([owned(Secrets, { owner: ConfigMaps })])],
  ["what a controller's objects refer to", onSecrets([referredTo(Secrets, { by: ConfigMaps, keys: () => [] })])],
  [
    'a cache of a keyed controller',
    defineKeyedController<string>('c', (context) => ({
      identity: (key) => key,
      start: () => void openObjectCache(context.client, Secrets, context),
      reconcile,
    })),
  ],
  [
    'the kind of a controller behind a leader election',
    whileLeading({ lease }, defineController({ name: 'c', for: Secrets, reconcile })),
  ],
])('the program is not ready while this cannot be watched: %s', async (_what, controller) => {
  const { clock, client, ask, failing, notReady, lines, stop } = await world(controller);
  await settled();
  expect(await ask('/readyz')).toEqual([503, 'not ready\nc has not listed secrets\n']);
  expect((await ask('/healthz'))[0]).toBe(200);
  expect((await ask('/readyz?exclude=watches'))[0]).toBe(200);
  expect(await failing()).toContain('{controller="c",resource="secrets"} 1');
  const warned = () => lines.filter(({ level }) => level === 'warn').length;
  expect(warned()).toBe(1);
  await clock.advance(25 * 60_000);
  expect(warned()).toBe(3);

  client.fail = () => undefined;
  await clock.advance(60_000);
  expect(await ask('/readyz')).toEqual([200, 'ok']);
  expect(await failing()).toContain('{controller="c",resource="secrets"} 0');

  // A watch that worked once leaves the program ready.
  client.fail = ({ plural }) => (plural === 'secrets' ? untyped('secrets is forbidden', 403) : undefined);
  client.dropWatches(new Error('reset'));
  await clock.advance(3 * 60_000);
  expect(await ask('/readyz')).toEqual([200, 'ok']);
  expect(await failing()).toContain('{controller="c",resource="secrets"} 1');

  notReady(new Error('no key'));
  expect(await ask('/readyz')).toEqual([503, 'not ready\n']);
  await stop();
});

test.each<[string, Runnable]>([
  [
    'a cache outside any controller',
    { name: 'r', run: async (context) => void openObjectCache(context.client, Secrets, context) },
  ],
  [
    'a controller that is not leading',
    whileLeading({ lease }, defineController({ name: 'c', for: Secrets, reconcile })),
  ],
])('readiness does not wait for %s', async (_what, runnable) => {
  const spec = { holderIdentity: 'another', leaseDurationSeconds: 3_600 };
  const taken: Runnable = {
    name: 'taken',
    run: async ({ client }) =>
      void (await client.resource(Leases).create({
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: lease,
        spec,
      })),
  };
  const { ask, stop, clock } = await world(taken, runnable);
  await clock.advance(60_000);
  expect(await ask('/readyz')).toEqual([200, 'ok']);
  await stop();
});

test('readiness does not wait for the failing watch of a stopped controller', async () => {
  const inner: Runnable = {
    name: 'inner',
    async run({ client, clock, log, unsynced }) {
      const stop = new AbortController();
      const running = createManager({ client, clock, log, unsynced })
        .add(defineController({ name: 'c', for: Secrets, reconcile }))
        .run(stop.signal);
      await clock.sleep(60_000);
      stop.abort();
      await running;
    },
  };
  const { ask, clock, stop } = await world(inner);
  expect((await ask('/readyz'))[0]).toBe(503);
  await clock.advance(60_000);
  expect(await ask('/readyz')).toEqual([200, 'ok']);
  await stop();
});
