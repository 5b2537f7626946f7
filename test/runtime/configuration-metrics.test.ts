import { expect, test } from 'vitest';
import { configurationMetrics, toldOf } from '../../src/runtime/configuration-metrics.js';
import { hashOf } from '../../src/runtime/last-outcomes.js';
import { openMetrics } from '../../src/runtime/metrics.js';
import { FakeClock } from '../../src/testing/fake-clock.js';

test('a configuration is told of from the start, and reloads from the first that comes later', async () => {
  const metrics = openMetrics();
  const clock = new FakeClock();
  const tell = configurationMetrics(metrics, { kind: 'K', prefix: 'k', clock, serverId: 's' });
  const take = toldOf(tell, async (text) => {
    if (text === 'bad') throw new Error('it is bad');
  });
  const server = `apiserver_id_hash="${hashOf('s')}"`;
  const lines = async (): Promise<readonly string[]> =>
    (await metrics.expose()).text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const begun = clock.now() / 1_000;
  const counts = (hash: string): string => `k_last_config_info{${server},hash="${hashOf(hash)}"} 1`;

  await take('a');
  expect(await lines()).toEqual([counts('a')]);

  await clock.advance(1_000);
  await take('b');
  await clock.advance(1_000);
  await expect(take('bad')).rejects.toThrow('it is bad');
  expect(await lines()).toEqual([
    `k_automatic_reload_last_timestamp_seconds{${server},status="success"} ${begun + 1}`,
    `k_automatic_reload_last_timestamp_seconds{${server},status="failure"} ${begun + 2}`,
    `k_automatic_reloads_total{${server},status="success"} 1`,
    `k_automatic_reloads_total{${server},status="failure"} 1`,
    counts('b'),
  ]);
});
