import { describe, expect, test } from 'vitest';
import { decide } from '../../controllers/legacy-token-cleaner/decide.js';
import { legacyTokenCleaner } from '../../controllers/legacy-token-cleaner/legacy-token-cleaner.js';
import { defaultDomains } from '../../src/api/domains.js';
import { serviceUnavailable } from '../../src/api/errors.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import type { Pod } from '../../src/api/kinds/pod.js';
import { legacyTokenTracking, type Secret, Secrets } from '../../src/api/kinds/secret.js';
import { type ServiceAccount, ServiceAccounts } from '../../src/api/kinds/service-account.js';
import { TokenReviews } from '../../src/api/kinds/token-review.js';
import type { ObjectMeta } from '../../src/api/object.js';
import { controllerMetrics } from '../../src/controller/controller-metrics.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { openMetrics } from '../../src/runtime/metrics.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { testServer } from '../../src/testing/test-server.js';
import { until } from '../../src/testing/until.js';
import { FakeClient } from '../fake-client.js';

const day = 86_400_000;
const now = Date.UTC(2026, 0, 1);
const periodMs = 365 * day;
const daysAgo = (days: number): string => new Date(now - days * day).toISOString().slice(0, 10);

const account: ServiceAccount = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { namespace: 'ns', name: 'sa', uid: 'u' },
  secrets: [{ name: 'auto' }],
};
const secret = (metadata: ObjectMeta = {}, type = 'kubernetes.io/service-account-token'): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type,
  metadata: {
    namespace: 'ns',
    name: 'auto',
    creationTimestamp: `${daysAgo(800)}T00:00:00Z`,
    annotations: { 'kubernetes.io/service-account.name': 'sa', 'kubernetes.io/service-account.uid': 'u' },
    ...metadata,
  },
});
const what = (given: Secret, { pods = [], since = daysAgo(800) }: { pods?: readonly Pod[]; since?: string } = {}) =>
  decide(
    { secrets: [given], accounts: [account], pods },
    { now, trackedSince: since, periodMs, domains: defaultDomains },
  )[0]?.action ?? 'leave';
const lastUsed = (days: number) => ({ 'kubernetes.io/legacy-token-last-used': daysAgo(days) });
const invalidSince = (days: number) => ({ 'kubernetes.io/legacy-token-invalid-since': daysAgo(days) });

describe('an unused token', () => {
  test.each<[string, Secret, string]>([
    ['that was never used', secret(), 'invalidate'],
    ['that was used long ago', secret({ labels: lastUsed(366) }), 'invalidate'],
    ['that was used within the period', secret({ labels: lastUsed(365) }), 'leave'],
    ['whose last use is unreadable', secret({ labels: { 'kubernetes.io/legacy-token-last-used': 'x' } }), 'leave'],
    ['that is new', secret({ creationTimestamp: `${daysAgo(364)}T00:00:00Z` }), 'leave'],
    ['that is being deleted', secret({ deletionTimestamp: `${daysAgo(1)}T00:00:00Z` }), 'leave'],
    ['that has been invalid for a while', secret({ labels: invalidSince(365) }), 'leave'],
    ['that has been invalid for the period', secret({ labels: invalidSince(366) }), 'delete'],
    [
      'whose mark is unreadable',
      secret({ labels: { 'kubernetes.io/legacy-token-invalid-since': 'now' } }),
      'invalidate',
    ],
    ['that was used since it became invalid', secret({ labels: { ...invalidSince(400), ...lastUsed(10) } }), 'leave'],
    ['that was not created by the controller', secret({ name: 'manual' }), 'leave'],
    [
      'of a former account of that name',
      secret({
        annotations: { 'kubernetes.io/service-account.name': 'sa', 'kubernetes.io/service-account.uid': 'old' },
      }),
      'leave',
    ],
    [
      'of an account, without its uid',
      secret({ annotations: { 'kubernetes.io/service-account.name': 'sa' } }),
      'invalidate',
    ],
    ['without an account', secret({ annotations: {} }), 'leave'],
    ['of another Secret type', secret({}, 'Opaque'), 'leave'],
  ])('%s', (_name, given, action) => {
    expect(what(given)).toBe(action);
  });

  test('that a pod mounts is left alone', () => {
    const pod: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'ns', name: 'p' },
      spec: { volumes: [{ secret: { secretName: 'auto' } }] },
    };
    expect(what(secret(), { pods: [pod] })).toBe('leave');
    expect(what(secret(), { pods: [{ ...pod, metadata: { namespace: 'other', name: 'p' } }] })).toBe('invalidate');
  });

  test.each([
    [daysAgo(366), 'invalidate'],
    [daysAgo(365), 'leave'],
    ['', 'leave'],
    ['2025-02-30', 'leave'],
  ])('is handled by the start of tracking: since %j', (since, action) => {
    expect(what(secret(), { since })).toBe(action);
  });
});

test('a token is marked, refused, and deleted over the years', async () => {
  const { client, stop } = await testServer({ controllers: ['service-account-token'] });
  const stopping = new AbortController();
  try {
    const key = { namespace: 'default', name: 'auto' };
    await client.resource(ServiceAccounts).create({ ...account, metadata: { namespace: 'default', name: 'sa' } });
    const secrets = client.resource(Secrets);
    const annotations = { 'kubernetes.io/service-account.name': 'sa' };
    await secrets.create({ ...secret(), metadata: { ...key, annotations } });
    const filled = await until(secrets, key, (found) => found?.data?.['token'] !== undefined);
    const token = Buffer.from(filled?.data?.['token'] ?? '', 'base64').toString();
    const review = async () => {
      const spec = { token };
      const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, spec };
      return (await client.resource(TokenReviews).create(asked)).status;
    };

    const start = Date.parse((await client.resource(ConfigMaps).get(legacyTokenTracking))?.data?.['since'] ?? '');
    const clock = new FakeClock(start);
    const cleaner = legacyTokenCleaner({ intervalMs: 10 * day });
    const running = cleaner.run({ client, clock, log: silentLogger, signal: stopping.signal });
    const pass = async (days: number) => {
      for (let passed = 0; passed < days; passed += 10) await clock.advance(10 * day);
    };
    await pass(360);
    expect((await secrets.get(key))?.metadata.labels).toBeUndefined();
    await pass(20);
    const marked = await until(secrets, key, (found) => found?.metadata.labels !== undefined);
    expect(Object.keys(marked?.metadata.labels ?? {})).toEqual(['kubernetes.io/legacy-token-invalid-since']);
    expect((await review())?.error).toContain('has been marked invalid. Use tokens from the TokenRequest API');
    // An attempt to use the token counts as a use; without further ones, it is deleted.
    const tried = await until(secrets, key, (found) => Object.keys(found?.metadata.labels ?? {}).length === 2);
    expect(tried?.metadata.labels).toHaveProperty(['kubernetes.io/legacy-token-last-used']);
    await pass(400);
    await until(secrets, key, (found) => found === undefined);
    stopping.abort();
    await running;
  } finally {
    stopping.abort();
    await stop();
  }
});

test('a failed look at tokens is retried within the day, and counted', async () => {
  const clock = new FakeClock();
  const client = new FakeClient(clock);
  const metrics = openMetrics();
  client.fail = () => (client.calls.length > 1 ? undefined : serviceUnavailable('not now'));
  const stopping = new AbortController();
  const running = legacyTokenCleaner().run({
    client,
    clock,
    log: silentLogger,
    metrics: controllerMetrics(metrics),
    signal: stopping.signal,
  });
  await clock.advance(1_000);
  expect(client.calls.map(({ plural }) => plural)).toEqual(['configmaps', 'configmaps', 'secrets']);
  const { text } = await metrics.expose();
  expect(text).toContain('controller_runtime_reconcile_total{controller="legacy-token-cleaner",result="error"} 1');
  stopping.abort();
  await running;
});
