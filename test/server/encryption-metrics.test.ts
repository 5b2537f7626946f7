import { expect, test } from 'vitest';
import { hashOf } from '../../src/runtime/last-outcomes.js';
import { openMetrics } from '../../src/runtime/metrics.js';
import { encryptionMetrics } from '../../src/server/encryption-metrics.js';
import { FakeClock } from '../../src/testing/fake-clock.js';

const opened = () => {
  const metrics = openMetrics();
  const lines = async (name: string): Promise<readonly string[]> =>
    (await metrics.expose()).text.split('\n').filter((line) => line.startsWith(`apiserver_${name}`));
  return { counted: encryptionMetrics(metrics, { clock: new FakeClock(), serverId: 's' }), lines };
};

test('of a key service with ever new keys, only the latest are reported', async () => {
  const { counted, lines } = opened();
  const { keyReported, keyUsed } = counted.kms('vault');
  for (let number = 0; number < 300; number++) {
    const id = `key-${number}`;
    keyReported(id);
    for (const used of ['key-0', id]) keyUsed('from_storage', used);
  }
  const told = await lines('envelope_encryption_key_id_hash_status_last_timestamp_seconds');
  expect(told.length).toBe(100);
  expect(told.at(-1)).toContain(hashOf('key-299'));
  const used = await lines('envelope_encryption_key_id_hash_total');
  expect(used.length).toBe(100);
  expect(used.filter((line) => line.includes(hashOf('key-0')))).toEqual([expect.stringMatching(/ 301$/)]);
});

test('encryption and decryption are counted by resource, provider and outcome', async () => {
  const { counted, lines } = opened();
  const key = 'k8s:enc:aesgcm:v1:one:';
  for (const _ of [1, 2]) counted.begin('to_storage', 'core/secrets/n/a')(key, true);
  counted.begin('from_storage', 'example.com/things/a')(key, true);
  counted.begin('from_storage', 'example.com/things/a')('', true);
  counted.begin('from_storage', 'core/secrets/n/a')('k8s:enc:kms:v2:vault:', false);
  counted.begin('from_storage', 'core/secrets/n/a')(undefined, false);
  const of = (resource: string, type: string, prefix: string, status: string, count: number): string =>
    `apiserver_storage_transformation_operations_total{resource="${resource}",transformation_type="${type}",transformer_prefix="${prefix}",status="${status}"} ${count}`;
  expect(await lines('storage_transformation_operations_total')).toEqual([
    of('secrets', 'to_storage', 'k8s:enc:aesgcm:v1:', 'OK', 2),
    of('things.example.com', 'from_storage', 'k8s:enc:aesgcm:v1:', 'OK', 1),
    of('things.example.com', 'from_storage', 'identity', 'OK', 1),
    of('secrets', 'from_storage', 'k8s:enc:kms:v2:vault:', 'unknown-non-grpc', 1),
    of('secrets', 'from_storage', 'unknown', 'unknown-non-grpc', 1),
  ]);
  const timed = await lines('storage_transformation_duration_seconds_count');
  expect(timed.map((line) => line.replace(/^.*type="/, ''))).toEqual([
    'to_storage",transformer_prefix="k8s:enc:aesgcm:v1:"} 2',
    'from_storage",transformer_prefix="k8s:enc:aesgcm:v1:"} 1',
    'from_storage",transformer_prefix="identity"} 1',
  ]);
});
