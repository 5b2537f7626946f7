import { describe, expect, test } from 'vitest';
import { freshAnchors } from '../../controllers/trust-bundle-publisher/bundle.js';
import { trustBundlePublisher } from '../../controllers/trust-bundle-publisher/trust-bundle-publisher.js';
import { type ClusterTrustBundle, ClusterTrustBundles } from '../../src/api/kinds/cluster-trust-bundle.js';
import { bundleName } from '../../src/controller/bundle-name.js';
import { testAuthority } from '../../src/testing/certificates.js';
import { settled } from '../../src/testing/fake-clock.js';
import { runControllers } from './run-controllers.js';

const [first, second] = await Promise.all([testAuthority(), testAuthority()]).then((all) =>
  all.map(({ anchors }) => anchors),
);
const one = first ?? '';
const two = second ?? '';
const signerName = 'example.test/clients';
const foreign = (name: string, signer: string): ClusterTrustBundle => ({
  apiVersion: 'certificates.k8s.io/v1beta1',
  kind: 'ClusterTrustBundle',
  metadata: { name },
  spec: { signerName: signer, trustBundle: two },
});

async function start(options: { readonly graceMs?: number; readonly prepare?: readonly ClusterTrustBundle[] } = {}) {
  const anchors = { now: one };
  const source = { signerName, anchors: async () => anchors.now, graceMs: options.graceMs ?? 0 };
  const world = await runControllers(
    [trustBundlePublisher({ sources: [source], refreshMs: 60_000 })],
    async (client) => {
      for (const bundle of options.prepare ?? []) await client.resource(ClusterTrustBundles).create(bundle);
    },
  );
  const bundles = world.client.resource(ClusterTrustBundles);
  const names = async () => (await bundles.list()).items.map(({ metadata }) => metadata.name);
  return { ...world, bundles, names, anchors };
}

describe('anchors', () => {
  test('are merged: each certificate once, without other text', () => {
    const key = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n';
    const merged = (texts: readonly string[]): string => freshAnchors(texts, 0).bundle;
    expect(merged([`text\n${one}${key}`, one, two])).toBe(one + two);
    expect(merged(['', 'nothing'])).toBe('');
  });

  test('name their bundle', () => {
    expect(bundleName('a.test/b', 'x')).toBe('a.test:b:2d711642b726b04401627ca9');
  });
});

describe('trust-bundle-publisher', () => {
  test('publishes the anchors of a signer', async () => {
    const { bundles, names } = await start();
    expect(await names()).toEqual([bundleName(signerName, one)]);
    expect((await bundles.list()).items[0]?.spec).toEqual({ signerName, trustBundle: one });
  });

  test('removes other bundles of the signer, but not of other signers', async () => {
    const { names } = await start({
      prepare: [
        foreign('example.test:clients:old', signerName),
        foreign('other.test:x:a', 'other.test/x'),
        foreign('free', ''),
      ],
    });
    expect(await names()).toEqual([bundleName(signerName, one), 'free', 'other.test:x:a']);
  });

  test('publishes a new CA, and keeps the old anchors for a while', async () => {
    const { names, anchors, clock } = await start({ graceMs: 600_000 });
    anchors.now = two;
    await clock.advance(60_000);
    expect((await names()).sort()).toEqual([bundleName(signerName, one), bundleName(signerName, two)].sort());
    await clock.advance(600_000);
    expect(await names()).toEqual([bundleName(signerName, two)]);
  });

  test('keeps anchors for a while when they are replaced by an earlier CA', async () => {
    const both = [bundleName(signerName, one), bundleName(signerName, two)].sort();
    const { names, anchors, clock } = await start({ graceMs: 3_600_000 });
    await clock.advance(7_200_000);
    anchors.now = two;
    await clock.advance(3_000_000);
    anchors.now = one;
    await clock.advance(3_000_000);
    expect((await names()).sort()).toEqual(both);
    await clock.advance(660_000);
    expect(await names()).toEqual([bundleName(signerName, one)]);
  });

  test('repairs a changed or deleted bundle at once', async () => {
    const { bundles, names } = await start();
    const [bundle] = (await bundles.list()).items;
    if (bundle === undefined) throw new Error('not published');
    await bundles.update({ ...bundle, spec: { signerName, trustBundle: two } });
    await settled();
    expect((await bundles.list()).items[0]?.spec.trustBundle).toBe(one);
    await bundles.delete({ name: bundle.metadata.name ?? '' });
    await settled();
    expect(await names()).toEqual([bundle.metadata.name]);
  });

  test('keeps the published anchors when a source is empty', async () => {
    const { names, anchors, clock } = await start();
    anchors.now = '';
    await clock.advance(120_000);
    expect(await names()).toEqual([bundleName(signerName, one)]);
  });

  test('reports a source without certificates', async () => {
    const { names, anchors, clock, complaints } = await start();
    anchors.now = 'junk';
    await clock.advance(60_000);
    expect(await names()).toEqual([bundleName(signerName, one)]);
    expect(complaints[0]).toBe('reconcile failed: the trust anchors of the signer contain no certificate');
  });

  test('retries a failing source within a minute, however long it failed', async () => {
    const { names, anchors, clock } = await start();
    anchors.now = 'junk';
    await clock.advance(3_600_000);
    anchors.now = two;
    await clock.advance(60_000);
    expect(await names()).toEqual([bundleName(signerName, two)]);
  });

  test('is not held up by a source that does not answer, neither for other sources nor for a stop', async () => {
    let answers = false;
    const silent = { signerName, anchors: async () => (answers ? one : new Promise<string>(() => {})) };
    const other = { signerName: 'example.test/other', anchors: async () => two };
    const world = await runControllers([trustBundlePublisher({ sources: [silent, other] })]);
    const bundles = world.client.resource(ClusterTrustBundles);
    const names = async () => (await bundles.list()).items.map(({ metadata }) => metadata.name).sort();
    expect(await names()).toEqual([bundleName('example.test/other', two)]);
    await world.clock.advance(30_000);
    expect(world.complaints).toEqual(['reconcile failed: not done within 30000 ms']);
    answers = true;
    await world.clock.advance(60_000);
    expect(await names()).toEqual([bundleName(signerName, one), bundleName('example.test/other', two)].sort());
    answers = false;
    await world.clock.advance(90_000);
    await world.stop();
  });

  test('drops an expired anchor, and reports it once', async () => {
    const { names, anchors, clock, complaints } = await start();
    const short = await testAuthority({ commonName: 'short', seconds: 3_600, clock });
    anchors.now = one + short.anchors;
    await clock.advance(60_000);
    expect(await names()).toEqual([bundleName(signerName, one + short.anchors)]);
    await clock.advance(3_600_000);
    expect(await names()).toEqual([bundleName(signerName, one)]);
    expect(complaints).toEqual(['expired anchors are not published: ']);
    anchors.now = short.anchors;
    await clock.advance(60_000);
    expect(await names()).toEqual([bundleName(signerName, one)]);
    anchors.now = one;
    await clock.advance(60_000);
    expect(complaints.length).toBe(1);
  });

  test('writes nothing when nothing has changed', async () => {
    const { client, clock } = await start();
    const before = client.writes.length;
    await clock.advance(600_000);
    expect(client.writes.length).toBe(before);
  });
});
