import { expect, test } from 'vitest';
import { builtinControllers } from '../../controllers/index.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import { createManager } from '../../src/controller/manager.js';
import type { Logger } from '../../src/runtime/logger.js';
import { FakeClock, settled } from '../../src/testing/fake-clock.js';
import { FakeClient } from '../fake-client.js';

const trust = {
  bundles: [{ name: 'b', sources: [{ configMap: 'n/c' }], targets: { clusterTrustBundle: 'b' } }],
};
const controllers = () => builtinControllers({ rootCa: () => 'pem', mintToken: async () => 'token', trust });

interface Stopped {
  readonly calls: number;
  /** The number of calls after the controllers were asked to stop. */
  readonly late: number;
  readonly ended: boolean;
  readonly left: number;
  /** The log lines at warn and error since then. */
  readonly complaints: readonly string[];
}

/** Runs all controllers and stops them at their nth call. */
async function stopAt(n: number): Promise<Stopped> {
  const clock = new FakeClock();
  const client = new FakeClient(clock);
  for (const type of [ConfigMaps, Namespaces]) {
    client.discovered.push({ ...type, verbs: ['list', 'watch', 'delete'], preferred: true });
  }
  await client.resource(Namespaces).create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } });
  const before = client.calls.length;
  const stopping = new AbortController();
  let late = 0;
  client.fail = () => {
    if (stopping.signal.aborted) late++;
    if (client.calls.length - before === n) queueMicrotask(() => stopping.abort());
    return undefined;
  };
  let ended = false;
  const complaints: string[] = [];
  const complain = (_: object, message: string): void => {
    if (stopping.signal.aborted) complaints.push(message);
  };
  const log: Logger = { debug: () => {}, info: () => {}, warn: complain, error: complain, child: () => log };
  const run = createManager({ client, clock, log }).add(...controllers());
  void run.run(stopping.signal).then(() => {
    ended = true;
  });
  await settled();
  stopping.abort();
  await settled();
  return { calls: client.calls.length - before, late, ended, left: client.watching + clock.sleeping, complaints };
}

test('stopped at any call, all controllers end, call nothing more and leave nothing behind', async () => {
  const { calls } = await stopAt(Number.POSITIVE_INFINITY);
  expect(calls).toBeGreaterThan(40);
  const stopped = { late: 0, ended: true, left: 0, complaints: [] };
  for (let n = 0; n <= calls; n++) expect({ n, ...(await stopAt(n)) }).toMatchObject({ n, ...stopped });
});
