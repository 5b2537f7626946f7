import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { combineAnchors } from '../../controllers/trust-distributor/combine.js';
import { signersIn, type TrustBundle, trustProblems } from '../../controllers/trust-distributor/trust-bundle.js';
import { trustDistributor } from '../../controllers/trust-distributor/trust-distributor.js';
import { ClusterTrustBundles } from '../../src/api/kinds/cluster-trust-bundle.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import { type ApiObject, groupVersion, type ResourceType } from '../../src/api/object.js';
import { testAuthority } from '../../src/testing/certificates.js';
import { type FakeClock, settled } from '../../src/testing/fake-clock.js';
import type { FakeClient } from '../fake-client.js';
import { runControllers } from './run-controllers.js';

const now = Date.UTC(2026, 0, 1);
const anchorsOf = async (commonName: string, seconds?: number): Promise<string> =>
  (await testAuthority({ commonName, clock: { now: () => now }, ...(seconds === undefined ? {} : { seconds }) }))
    .anchors;
const [one, two, short] = await Promise.all([anchorsOf('one'), anchorsOf('two'), anchorsOf('short', 3_600)]);
const leaf = (
  await (await testAuthority({ clock: { now: () => now } })).issueClient({ commonName: 'leaf', seconds: 7_200 })
).certificate;

describe('anchors', () => {
  const from = (pem: string) => ({ from: 'here', pem });
  test('are merged once each, by subject, without surrounding text', () => {
    const { bundle, dropped } = combineAnchors([from(`text\n${two}`), from(one + two)], now);
    expect(bundle).toBe(one + two);
    expect(dropped).toEqual([]);
  });
  test('that are expired or not a CA are dropped and reported', () => {
    const { bundle, dropped } = combineAnchors([from(short + one + leaf)], now + 3_600_000);
    expect(bundle).toBe(one);
    expect(dropped).toEqual([
      { from: 'here', subject: 'short', why: 'expired' },
      { from: 'here', subject: 'leaf', why: 'not a CA' },
    ]);
  });
  test.each([
    [
      'a key',
      '-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n',
      'here: block 1 is not a certificate',
    ],
    ['headers', one.replace('-----\n', '-----\nA: b\n\n'), 'here: block 1 has headers'],
    [
      'a malformed certificate',
      '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
      'here: block 1: x509: malformed certificate',
    ],
    ['an incomplete block', one.slice(0, 200), 'here: malformed PEM block'],
  ])('with %s are refused, without quoting it', (_, pem, message) => {
    expect(() => combineAnchors([from(pem)], now)).toThrow(message);
  });
  test('that exceed the size of a target are refused', async () => {
    const huge = await anchorsOf('x'.repeat(800_000));
    expect(() => combineAnchors([from(huge)], now)).toThrow('the anchors are larger than 1 MiB in total');
  });
});

describe('bundles', () => {
  const bundle = (name: string, more: Partial<TrustBundle> = {}): TrustBundle => ({
    name,
    sources: [{ signer: `example.test/${name}` }],
    targets: { clusterTrustBundle: name },
    ...more,
  });
  test('list the signers in their sources', () => {
    const all = [bundle('a', { sources: [{ bundle: 'b' }, { signer: 'example.test/x' }] }), bundle('b')];
    expect([...signersIn('a', all)]).toEqual(['example.test/b', 'example.test/x']);
  });
  test.each<[readonly TrustBundle[], string]>([
    [[bundle('A')], 'bundles[0].name: a lowercase RFC 1123 label'],
    [[bundle('a'), bundle('a')], 'bundles[1].name: duplicate bundle "a"'],
    [[bundle('a', { sources: [] })], 'bundles[0].sources: at least one is required'],
    [[bundle('a', { targets: {} })], 'bundles[0].targets: at least one is required'],
    [
      [bundle('a', { sources: [{ configMap: 'x' }] })],
      'bundles[0].sources[0].configMap: must be namespace/name, not "x"',
    ],
    [[bundle('a', { sources: [{ bundle: 'b' }] })], 'bundles[0].sources[0].bundle: no bundle "b"'],
    [
      [bundle('a', { sources: [{ bundle: 'b' }] }), bundle('b', { sources: [{ bundle: 'a' }] })],
      'bundles[0].sources: the bundle includes itself',
    ],
    [
      [bundle('a', { targets: { secrets: { namespaces: {} } } })],
      'bundles[0].targets.secrets: requires secretTargets: true',
    ],
  ])('%#', (bundles, problem) => {
    expect(trustProblems({ bundles })[0]).toContain(problem);
  });
});

const folder = mkdtempSync(join(tmpdir(), 'kedge-trust-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'roots.pem');

const make = (client: FakeClient, type: ResourceType, name: string, namespace: string | undefined, more: object) =>
  client.resource(type).create({
    apiVersion: groupVersion(type),
    kind: type.kind,
    ...more,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), ...(more as { metadata?: object }).metadata },
  });
const base64 = (text: string): string => Buffer.from(text).toString('base64');

async function start(bundles: readonly TrustBundle[], more: (client: FakeClient) => unknown = () => {}) {
  writeFileSync(file, one);
  const world = await runControllers(
    [trustDistributor({ bundles, secretTargets: true, refreshMs: 60_000 })],
    async (client) => {
      for (const name of ['a', 'b', 'c']) {
        await make(client, Namespaces, name, undefined, { metadata: { labels: name === 'c' ? {} : { team: name } } });
      }
      await make(client, ConfigMaps, 'roots', 'c', { data: { x: two, y: one } });
      await make(client, Secrets, 'roots', 'c', { data: { x: base64(short) } });
      await more(client);
    },
  );
  const read = async <T extends ApiObject>(type: ResourceType<T>, namespace: string | undefined, name = 'corp') =>
    world.client.resource(type).get({ name, namespace });
  return { ...world, read, configMaps: world.client.resource(ConfigMaps) };
}
/** Sources are files too, so waiting for timers is not enough. */
const until = (holds: () => Promise<boolean>): Promise<void> =>
  expect.poll(holds, { timeout: 20_000, interval: 5 }).toBe(true);

/**
 * Waits until a condition holds, for some minutes of the clock. Files are read in real time, so that a minute may pass
 * before the result is awaited; anchors expire, so that not many may.
 */
async function later(clock: FakeClock, holds: () => Promise<boolean>): Promise<void> {
  for (let minutes = 0; minutes < 12; minutes++) {
    await clock.advance(60_000);
    const patience = performance.now() + 1_500;
    do {
      if (await holds()) return;
      await settled();
    } while (performance.now() < patience);
  }
  expect(await holds()).toBe(true);
}

const corp: TrustBundle = {
  name: 'corp',
  sources: [{ file }, { configMap: 'c/roots', key: 'x' }],
  targets: {
    clusterTrustBundle: 'corp',
    configMaps: { namespaces: { matchExpressions: [{ key: 'team', operator: 'Exists' }] } },
    secrets: { name: 'trust', key: 'roots.pem', namespaces: { matchLabels: { team: 'b' } } },
  },
};

describe('trust-distributor', () => {
  test('writes a bundle to its targets, and nowhere else', async () => {
    const namespaces = { matchLabels: { team: 'a' } };
    const targets = { configMaps: { name: 'roots', key: 'all.pem', namespaces }, secrets: { namespaces } };
    const { read, stop } = await start([corp, { name: 'one', sources: [{ file }], targets }]);
    await until(async () => (await read(Secrets, 'b', 'trust')) !== undefined);
    await until(async () => (await read(Secrets, 'a', 'one')) !== undefined);
    expect((await read(ConfigMaps, 'a', 'roots'))?.data).toEqual({ 'all.pem': one });
    expect((await read(Secrets, 'a', 'one'))?.data).toEqual({ 'ca.crt': base64(one) });
    expect((await read(ClusterTrustBundles, undefined))?.spec).toEqual({ trustBundle: one + two });
    for (const namespace of ['a', 'b'])
      expect((await read(ConfigMaps, namespace))?.data).toEqual({ 'ca.crt': one + two });
    expect((await read(Secrets, 'b', 'trust'))?.data).toEqual({ 'roots.pem': base64(one + two) });
    expect(await read(ConfigMaps, 'c')).toBeUndefined();
    expect(await read(Secrets, 'a', 'trust')).toBeUndefined();
    await stop();
  });

  test('repairs changed targets at once', async () => {
    const { read, configMaps, stop } = await start([corp]);
    await until(async () => (await read(ConfigMaps, 'b')) !== undefined);
    const found = await configMaps.get({ namespace: 'a', name: 'corp' });
    if (found === undefined) throw new Error('not distributed');
    await configMaps.update({ ...found, data: { 'ca.crt': 'x', other: 'y' }, binaryData: { z: 'AA==' } });
    await until(
      async () => JSON.stringify((await read(ConfigMaps, 'a'))?.data) === JSON.stringify({ 'ca.crt': one + two }),
    );
    expect((await read(ConfigMaps, 'a'))?.binaryData).toBeUndefined();
    await configMaps.delete({ namespace: 'a', name: 'corp' });
    await until(async () => (await read(ConfigMaps, 'a')) !== undefined);
    await stop();
  });

  test('writes to other namespaces when one refuses, and retries that one', async () => {
    const { client, configMaps, read, clock, complaints, stop } = await start([corp]);
    await until(async () => (await read(Secrets, 'b', 'trust')) !== undefined);
    let refuses = true;
    client.fail = ({ verb, plural, key }) =>
      refuses && verb === 'update' && plural === 'configmaps' && key === 'a/corp' ? new Error('no') : undefined;
    writeFileSync(file, short);
    const has = async (type: ResourceType, namespace: string, name?: string): Promise<boolean> =>
      JSON.stringify(await read(type, namespace, name)).includes(
        type === Secrets ? base64(short + two) : JSON.stringify(short + two),
      );
    await make(client, Namespaces, 'new', undefined, { metadata: { labels: { team: 'b' } } });
    await later(clock, async () => (await has(ConfigMaps, 'b')) && (await has(ConfigMaps, 'new')));
    await later(clock, async () => has(Secrets, 'new', 'trust'));
    expect(await has(ConfigMaps, 'a')).toBe(false);
    expect(complaints.join('\n')).toContain('bundle corp: 1 of 6 targets could not be written: ConfigMap a/corp: no');
    refuses = false;
    await later(clock, () => has(ConfigMaps, 'a'));
    expect((await configMaps.list({ namespace: 'a' })).items.length).toBe(1);
    await stop();
  });

  test('does not rewrite a correct target', async () => {
    const { client, read, clock, stop } = await start([corp]);
    await until(async () => (await read(Secrets, 'b', 'trust')) !== undefined);
    client.calls.length = 0;
    await later(clock, async () => client.calls.filter(({ verb }) => verb === 'list').length > 6);
    expect(client.writes).toEqual([]);
    await stop();
  });

  test('recreates a Secret whose type was changed, which no update can repair', async () => {
    const { client, read, stop } = await start([corp]);
    await until(async () => (await read(Secrets, 'b', 'trust')) !== undefined);
    const secrets = client.resource(Secrets);
    const found = await secrets.get({ namespace: 'b', name: 'trust' });
    if (found === undefined) throw new Error('not distributed');
    const { metadata } = await secrets.update({ ...found, type: 'example.com/mine' });
    await until(async () => (await read(Secrets, 'b', 'trust'))?.type === 'Opaque');
    expect((await read(Secrets, 'b', 'trust'))?.metadata.uid).not.toBe(metadata.uid);
    await stop();
  });

  test('recreates a target that was made immutable, once it is outdated', async () => {
    const { read, configMaps, clock, stop } = await start([corp]);
    await until(async () => (await read(ConfigMaps, 'b')) !== undefined);
    const found = await configMaps.get({ namespace: 'a', name: 'corp' });
    if (found === undefined) throw new Error('not distributed');
    const { metadata } = await configMaps.update({ ...found, immutable: true });
    writeFileSync(file, short);
    await later(
      clock,
      async () => JSON.stringify((await read(ConfigMaps, 'a'))?.data) === JSON.stringify({ 'ca.crt': short + two }),
    );
    const made = await read(ConfigMaps, 'a');
    expect(made?.metadata.uid).not.toBe(metadata.uid);
    expect(made).not.toHaveProperty('immutable');
    await stop();
  });

  test('follows its sources, and keeps its targets while a source is missing', async () => {
    const { read, clock, complaints, stop } = await start([corp]);
    await until(async () => (await read(ConfigMaps, 'b')) !== undefined);
    rmSync(file);
    await later(clock, async () => complaints.some((line) => line.includes('ENOENT')));
    writeFileSync(file, '');
    truncateSync(file, 16 * 1_048_576 + 1);
    await later(clock, async () => complaints.some((line) => line.includes(`${file}: it is larger than`)));
    expect((await read(ConfigMaps, 'a'))?.data).toEqual({ 'ca.crt': one + two });
    writeFileSync(file, two);
    await later(
      clock,
      async () => JSON.stringify((await read(ConfigMaps, 'a'))?.data) === JSON.stringify({ 'ca.crt': two }),
    );
    await stop();
  });

  test('drops an expired anchor, and reports it once', async () => {
    const bundle: TrustBundle = {
      name: 'corp',
      sources: [{ secret: 'c/roots', key: 'x' }, { configMap: 'c/roots' }],
      targets: { clusterTrustBundle: 'corp' },
    };
    const { read, clock, complaints, stop } = await start([bundle]);
    await until(async () => (await read(ClusterTrustBundles, undefined)) !== undefined);
    expect((await read(ClusterTrustBundles, undefined))?.spec).toEqual({ trustBundle: one + short + two });
    await clock.advance(4_000_000);
    expect((await read(ClusterTrustBundles, undefined))?.spec).toEqual({ trustBundle: one + two });
    expect(complaints.filter((line) => line.startsWith('dropped an anchor')).length).toBe(1);
    await stop();
  });

  test('deletes targets in namespaces that are no longer selected, and creates them in new ones', async () => {
    const { read, client, stop } = await start([corp]);
    await until(async () => (await read(ConfigMaps, 'a')) !== undefined);
    const namespaces = client.resource(Namespaces);
    const a = await namespaces.get({ name: 'a' });
    if (a === undefined) throw new Error('gone');
    await namespaces.update({ ...a, metadata: { ...a.metadata, labels: {} } });
    await until(async () => (await read(ConfigMaps, 'a')) === undefined);
    await make(client, Namespaces, 'd', undefined, { metadata: { labels: { team: 'd' } } });
    await until(async () => (await read(ConfigMaps, 'd')) !== undefined);
    await stop();
  });

  test('removes the targets of a removed bundle, but not those of other owners', async () => {
    const mark = (owner: string) => ({
      metadata: { labels: { 'kedge.internal/trust-owner': owner, 'kedge.internal/trust-bundle': 'old' } },
      data: {},
    });
    const { read, stop } = await start([corp], async (client) => {
      await make(client, ConfigMaps, 'old', 'a', mark('kedge'));
      await make(client, ConfigMaps, 'old', 'b', mark('somebody'));
    });
    await until(async () => (await read(ConfigMaps, 'a', 'old')) === undefined);
    expect(await read(ConfigMaps, 'b', 'old')).toBeDefined();
    await stop();
  });

  test("never overwrites another owner's object", async () => {
    const { read, complaints, stop } = await start([corp], (client) =>
      make(client, ConfigMaps, 'corp', 'a', { data: { mine: 'x' } }),
    );
    await until(async () => (await read(ConfigMaps, 'b')) !== undefined);
    expect((await read(ConfigMaps, 'a'))?.data).toEqual({ mine: 'x' });
    expect(complaints.join()).toContain('not overwritten');
    await stop();
  });
});
