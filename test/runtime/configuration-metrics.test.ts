import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configurationMetrics, followConfiguration } from '../../src/runtime/configuration-metrics.js';
import { hashOf } from '../../src/runtime/last-outcomes.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { openMetrics } from '../../src/runtime/metrics.js';
import { FakeClock } from '../../src/testing/fake-clock.js';

test('a configuration is counted from the start, its reloads from the first later one', async () => {
  const metrics = openMetrics();
  const clock = new FakeClock();
  const tell = configurationMetrics(metrics, { kind: 'K', prefix: 'k', clock, serverId: 's' });
  const take = async (text: string): Promise<void> => {
    if (text === 'bad') throw new Error('it is bad');
  };
  const server = `apiserver_id_hash="${hashOf('s')}"`;
  const lines = async (): Promise<readonly string[]> =>
    (await metrics.expose()).text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const counts = (hash: string): string => `k_last_config_info{${server},hash="${hashOf(hash)}"} 1`;
  const reloads = (status: string, count: number): string =>
    `k_automatic_reloads_total{${server},status="${status}"} ${count}`;

  const directory = mkdtempSync(join(tmpdir(), 'kedge-configuration-'));
  const file = join(directory, 'k.yaml');
  const stopping = new AbortController();
  const lookAgain = async (): Promise<readonly string[]> => {
    await expect.poll(() => clock.sleeping).toBe(1);
    await clock.advance(60_050);
    await expect.poll(() => clock.sleeping).toBe(1);
    return (await lines()).filter((line) => !line.includes('timestamp'));
  };
  try {
    writeFileSync(file, 'a');
    await followConfiguration({ file }, take, { clock, log: silentLogger, signal: stopping.signal, tell });
    expect(await lines()).toEqual([counts('a')]);

    writeFileSync(file, 'b');
    await expect.poll(lookAgain).toEqual([reloads('success', 1), counts('b')]);
    writeFileSync(file, 'bad');
    await expect.poll(lookAgain).toEqual([reloads('success', 1), reloads('failure', 1), counts('b')]);
    const time = (status: string) => `k_automatic_reload_last_timestamp_seconds{${server},status="${status}"} `;
    const [success = '', failure = ''] = await lines();
    expect([success, failure]).toEqual([
      expect.stringContaining(time('success')),
      expect.stringContaining(time('failure')),
    ]);
    expect(Number(failure.split(' ').at(-1))).toBeGreaterThan(Number(success.split(' ').at(-1)));

    rmSync(file);
    await expect.poll(lookAgain).toEqual([reloads('success', 1), reloads('failure', 2), counts('b')]);
    writeFileSync(file, 'b');
    await expect.poll(lookAgain).toEqual([reloads('success', 2), reloads('failure', 2), counts('b')]);
  } finally {
    stopping.abort();
    rmSync(directory, { recursive: true, force: true });
  }
});
