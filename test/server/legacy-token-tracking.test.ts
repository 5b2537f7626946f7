import { expect, test } from 'vitest';
import { defaultDomains } from '../../src/api/domains.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { legacyTokenTracking, Secrets } from '../../src/api/kinds/secret.js';
import { ServiceAccounts } from '../../src/api/kinds/service-account.js';
import { TokenReviews } from '../../src/api/kinds/token-review.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { ensureTokenTracking, recordTokenUse } from '../../src/server/legacy-token-tracking.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { testServer } from '../../src/testing/test-server.js';
import { until } from '../../src/testing/until.js';

const day = 86_400_000;

test('the day of the last use is stored in a label', async () => {
  const clock = new FakeClock(Date.UTC(2026, 0, 31, 23, 59));
  const { client, stop } = await testServer({ clock, controllers: ['service-account', 'service-account-token'] });
  try {
    const secrets = client.resource(Secrets);
    const key = { namespace: 'default', name: 'token' };
    await until(
      client.resource(ServiceAccounts),
      { namespace: 'default', name: 'default' },
      (found) => found !== undefined,
    );
    await secrets.create({
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/service-account-token',
      metadata: { ...key, annotations: { 'kubernetes.io/service-account.name': 'default' } },
    });
    const filled = await until(secrets, key, (found) => found?.data?.['token'] !== undefined);
    const token = Buffer.from(filled?.data?.['token'] ?? '', 'base64').toString();
    const use = async () => {
      const review = await client.resource(TokenReviews).create({
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        metadata: {},
        spec: { token },
      });
      expect(review.status?.user?.username).toBe('system:serviceaccount:default:default');
    };
    await use();
    const used = await until(secrets, key, (found) => found?.metadata.labels !== undefined);
    expect(used?.metadata.labels).toEqual({ 'kubernetes.io/legacy-token-last-used': '2026-01-31' });
    await clock.advance(day);
    await use();
    await until(
      secrets,
      key,
      (found) => found?.metadata.labels?.['kubernetes.io/legacy-token-last-used'] === '2026-02-01',
    );
  } finally {
    await stop();
  }
});

test('one use a day is written, and none during a write', async () => {
  const clock = new FakeClock(Date.UTC(2026, 0, 31));
  const { client, stop } = await testServer({ clock, controllers: [] });
  try {
    const secrets = client.resource(Secrets);
    const made = await secrets.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: 'default', name: 's' },
    });
    const label = 'kubernetes.io/legacy-token-last-used';
    const used = recordTokenUse({ client: () => client, domains: defaultDomains, clock, log: silentLogger });
    used(made);
    used(made);
    const once = await until(
      secrets,
      { namespace: 'default', name: 's' },
      (found) => found?.metadata.labels?.[label] !== undefined,
    );
    for (const date of ['2026-01-31', '2026-02-01']) {
      used({ ...made, metadata: { ...made.metadata, labels: { [label]: date } } });
    }
    await clock.advance(1);
    expect((await secrets.get({ namespace: 'default', name: 's' }))?.metadata.resourceVersion).toBe(
      once?.metadata.resourceVersion,
    );
    // A Secret that is gone, or another one with its name, causes no error.
    used({ ...made, metadata: { ...made.metadata, name: 'gone' } });
    used({ ...made, metadata: { ...made.metadata, uid: 'other' } });
    await clock.advance(1);
  } finally {
    await stop();
  }
});

test.each([
  ['2025-01-01', '2025-01-01'],
  ['2026-02-02', '2026-02-02'],
  ['2026-02-03', '2026-02-01'],
  ['2026-01-31', '2026-01-31'],
  ['2026-01-32', '2026-02-01'],
  ['2025-02-30', '2026-02-01'],
  ['yesterday', '2026-02-01'],
])('a tracking start of %j is taken as %j', async (since, taken) => {
  const clock = new FakeClock(Date.UTC(2026, 1, 1));
  const { client, stop } = await testServer({ clock, controllers: [] });
  try {
    const configMaps = client.resource(ConfigMaps);
    const found = await configMaps.get(legacyTokenTracking);
    expect(found?.data).toEqual({ since: '2026-02-01' });
    if (found !== undefined) await configMaps.update({ ...found, data: { since } });
    await ensureTokenTracking({ client: () => client, clock });
    expect((await configMaps.get(legacyTokenTracking))?.data).toEqual({ since: taken });
  } finally {
    await stop();
  }
});
