import { expect, test } from 'vitest';
import { openMetrics } from '../../src/runtime/metrics.js';
import { rotationMetrics } from '../../src/server/rotation-metrics.js';
import { FakeClock } from '../../src/testing/fake-clock.js';

test('each watched CA has metrics about its phase, since when, and what holds it up', async () => {
  const clock = new FakeClock();
  const metrics = openMetrics();
  const looked = rotationMetrics(metrics, clock);
  const lines = async () => (await metrics.expose()).text.match(/^kedge_.*/gm) ?? [];
  const start = clock.now();
  looked('pki/a', { phase: 'announced', since: start, lacking: { text: 'ConfigMap ns/corp', since: start } });
  looked('pki/b', { phase: 'steady' });
  await clock.advance(90_000);
  const phase = (secret: string, name: string): readonly string[] =>
    ['steady', 'announced', 'spreading', 'retiring', 'unusable'].map(
      (one) => `kedge_ca_rotation_phase{secret="pki/${secret}",phase="${one}"} ${one === name ? 1 : 0}`,
    );
  expect(await lines()).toEqual([
    'kedge_ca_rotation_held_up_seconds{secret="pki/a",object="ConfigMap ns/corp"} 90',
    ...phase('a', 'announced'),
    ...phase('b', 'steady'),
    `kedge_ca_rotation_phase_start_timestamp_seconds{secret="pki/a"} ${start / 1_000}`,
  ]);
  looked('pki/a', { phase: 'spreading', since: clock.now() });
  looked('pki/b', undefined);
  expect(await lines()).toEqual([
    ...phase('a', 'spreading'),
    `kedge_ca_rotation_phase_start_timestamp_seconds{secret="pki/a"} ${start / 1_000 + 90}`,
  ]);
});
