import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/runtime/clock.js';
import { openMetrics } from '../../src/runtime/metrics.js';
import { MemoryStore } from '../../src/store/memory/memory-store.js';
import { meteredStore } from '../../src/store/metered-store.js';
import type { Store } from '../../src/store/store.js';
import { RevisionInFuture } from '../../src/store/store.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { storeContract } from '../../src/testing/store-contract.js';

const document = { bytes: Buffer.from('{}'), revisionAt: -1 };

test('reads and writes are counted and timed by operation and resource', async () => {
  const clock = new FakeClock();
  const metrics = openMetrics();
  const inner = new MemoryStore({ clock });
  const plain = meteredStore(inner, { metrics, clock });
  await plain.commit({ key: 'core/pods/a/b', document, expect: 'absent' });
  await expect(plain.scan('core/pods/', { at: 99n })).rejects.toThrow(RevisionInFuture);
  const { revision } = await plain.commit({ key: 'core/pods/a/b', document, expect: 1n });
  await expect(plain.commit({ key: 'core/pods/a/b', document, expect: 'absent' })).rejects.toThrow('write conflict');
  await plain.get('rbac.authorization.k8s.io/roles/a/b');
  await plain.get('health');
  await plain.commit({ key: 'core/pods/a/b', document: undefined, expect: revision });
  await inner.close();
  await expect(plain.scan('core/pods/')).rejects.toThrow('closed');
  const { text } = await metrics.expose();
  for (const line of [
    'etcd_requests_total{operation="create",group="",resource="pods"} 2',
    'etcd_requests_total{operation="update",group="",resource="pods"} 1',
    'etcd_requests_total{operation="delete",group="",resource="pods"} 1',
    'etcd_requests_total{operation="get",group="rbac.authorization.k8s.io",resource="roles"} 1',
    'etcd_requests_total{operation="get",group="",resource=""} 1',
    'etcd_request_errors_total{operation="create",group="",resource="pods"} 0',
    'etcd_request_errors_total{operation="list",group="",resource="pods"} 1',
    'etcd_request_duration_seconds_count{operation="create",group="",resource="pods"} 2',
  ]) {
    expect(text).toContain(`${line}\n`);
  }
});

test('durations are measured with the clock', async () => {
  const clock = new FakeClock();
  const metrics = openMetrics();
  const inner = new MemoryStore({ clock });
  const scan = async () => {
    await clock.sleep(30);
    return inner.scan('core/pods/');
  };
  const slow: Store = { ...bound(inner), scan };
  const read = meteredStore(slow, { metrics, clock }).scan('core/pods/');
  await clock.advance(30);
  await read;
  const { text } = await metrics.expose();
  const bucket = (limit: string): string =>
    `etcd_request_duration_seconds_bucket{operation="list",group="",resource="pods",le="${limit}"}`;
  expect(text).toContain(`${bucket('0.025')} 0\n${bucket('0.05')} 1\n`);
  await inner.close();
});

const bound = (store: Store): Store => ({
  get: (key) => store.get(key),
  scan: (prefix, options) => store.scan(prefix, options),
  commit: (write) => store.commit(write),
  changes: (prefix, after) => store.changes(prefix, after),
  revision: () => store.revision(),
  close: () => store.close(),
});

describe('it fulfils the contract of the store it wraps', () => {
  const open = async () => meteredStore(new MemoryStore(), { metrics: openMetrics(), clock: systemClock });
  for (const { name, run } of storeContract(open)) test(name, run);
});
