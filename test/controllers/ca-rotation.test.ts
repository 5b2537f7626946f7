import { describe, expect, test } from 'vitest';
import { caRotation, type RotatedCa, type RotationState } from '../../controllers/ca-rotation/ca-rotation.js';
import { followCaSecret } from '../../controllers/csr-signer/secret-ca.js';
import { trustBundlePublisher } from '../../controllers/trust-bundle-publisher/trust-bundle-publisher.js';
import { serviceUnavailable } from '../../src/api/errors.js';
import { ClusterTrustBundles } from '../../src/api/kinds/cluster-trust-bundle.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Events } from '../../src/api/kinds/event.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import { groupVersion } from '../../src/api/object.js';
import type { Runnable } from '../../src/controller/controller.js';
import { phaseOf, rotationPolicy } from '../../src/pki/ca-rotation.js';
import { anchorOf, type CaState, certificateOf, readCaState, writeCaState } from '../../src/pki/ca-state.js';
import { createAuthorityKeyPair } from '../../src/pki/certificate-authority.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { testAuthority } from '../../src/testing/certificates.js';
import { FakeClock, settled } from '../../src/testing/fake-clock.js';
import { runControllers, type World } from './run-controllers.js';

const signerName = 'example.test/clients';
const secret = { namespace: 'pki', name: 'clients-ca' };
const hour = 3_600_000;
const ca: RotatedCa = {
  secret,
  signers: [signerName],
  policy: rotationPolicy({ maxSeconds: 3_600, propagationMs: 2 * hour, marginMs: hour / 2, renewBeforeMs: 6 * hour }),
  seconds: (48 * hour) / 1_000,
};

/** Keys are generated in threads, so waiting for timers is not enough. A busy machine may need seconds. */
const until = (holds: () => Promise<boolean>): Promise<void> =>
  expect.poll(holds, { timeout: 10_000, interval: 5 }).toBe(true);

const rotation = (more: Partial<RotatedCa> = {}): Runnable =>
  caRotation({ cas: [{ ...ca, ...more }], refreshMs: hour / 6 });

async function start(more: Partial<RotatedCa> = {}, { publish = true, rotator = rotation(more) } = {}) {
  let follow: ReturnType<typeof followCaSecret> | undefined;
  const signer: Runnable = {
    name: 'signer',
    async run({ client, clock, signal }) {
      follow = followCaSecret(client, secret, { clock, signal, log: silentLogger });
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  };
  const anchors = async (): Promise<string> => follow?.anchors() ?? '';
  const publisher = trustBundlePublisher({
    sources: [{ signerName, anchors, graceMs: hour / 2 }],
    refreshMs: hour / 6,
  });
  const world = await runControllers([rotator, signer, ...(publish ? [publisher] : [])]);
  const secrets = world.client.resource(Secrets);
  const state = async (): Promise<CaState> => readCaState((await secrets.get(secret))?.data ?? {});
  await until(async () => (await secrets.get(secret)) !== undefined && follow?.anchors() !== '');
  const request = async (): Promise<void> => {
    const found = await secrets.get(secret);
    if (found === undefined) throw new Error('gone');
    const annotations = { ...found.metadata.annotations, 'kedge.internal/rotate': 'now' };
    await secrets.update({ ...found, metadata: { ...found.metadata, annotations } });
  };
  const bundles = async (): Promise<readonly string[]> =>
    (await world.client.resource(ClusterTrustBundles).list()).items.map(({ spec }) => spec.trustBundle ?? '');
  return { ...world, state, secrets, request, bundles, signs: () => follow?.current() };
}

/** Advances step by step, because generating keys takes real time. */
async function pass({ clock }: World, milliseconds: number): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += hour / 6) {
    await clock.advance(hour / 6);
    for (let i = 0; i < 3; i++) await settled();
  }
}

describe('ca-rotation', () => {
  test('creates a missing CA', async () => {
    const world = await start();
    expect(await world.state()).toMatchObject({ generation: 1, retiring: [], longestSeconds: 3_600 });
    expect((await world.secrets.get(secret))?.metadata).toMatchObject({
      labels: { 'kedge.internal/ca': 'true' },
      annotations: {
        'kedge.internal/signers': signerName,
        'kedge.internal/bundles': '{"distributed":[],"owner":"kedge","inSecrets":false}',
      },
    });
    expect(world.signs()?.certificate.subject.commonName).toBe('clients-ca 1');
    await world.stop();
  });

  test('goes through all steps on request', async () => {
    const world = await start();
    const first = (await world.state()).signing;
    await pass(world, hour);
    await world.request();
    await until(async () => (await world.state()).next !== undefined);
    expect((await world.secrets.get(secret))?.metadata.annotations).not.toHaveProperty('kedge.internal/rotate');
    await pass(world, 1.5 * hour);
    expect(phaseOf(await world.state())).toBe('spreading');
    expect(world.signs()?.anchors).toBe(anchorOf(first));
    const next = (await world.state()).next?.pair;
    for (const bundle of await world.bundles()) {
      expect(bundle).toContain(anchorOf(first));
      expect(bundle).toContain(anchorOf(next ?? { certificate: '' }));
    }
    await pass(world, hour);
    expect(phaseOf(await world.state())).toBe('retiring');
    expect((await world.state()).signing).toEqual(next);
    expect(world.signs()?.anchors).toBe(anchorOf(next ?? { certificate: '' }));
    for (const bundle of await world.bundles()) expect(bundle).toContain(anchorOf(first));
    await pass(world, 3 * hour);
    expect(phaseOf(await world.state())).toBe('steady');
    expect(await world.bundles()).toEqual([anchorOf(next ?? { certificate: '' })]);
    const reasons = (await world.client.resource(Events).list()).items.map(({ reason }) => reason);
    expect(new Set(reasons)).toEqual(new Set(['CaAnnounced', 'CaSeenEverywhere', 'CaSwitched', 'CaRetired']));
    await world.stop();
  });

  test('does not wait for a bundle that the publisher has replaced and keeps for a while', async () => {
    const world = await start();
    await pass(world, hour);
    await world.request();
    await until(async () => (await world.state()).next !== undefined);
    await pass(world, hour / 3);
    const { next } = await world.state();
    const has = (await world.bundles()).map((bundle) => bundle.includes(anchorOf(next?.pair ?? { certificate: '' })));
    expect(has.sort()).toEqual([false, true]);
    expect(world.clock.now() - (next?.seenSince ?? 0)).toBeLessThanOrEqual(hour / 3);
    await world.stop();
  });

  test('reports its phase, what lacks the next anchor, and when it stops looking', async () => {
    const told: (RotationState | undefined)[] = [];
    const rotator = caRotation({
      cas: [ca],
      refreshMs: hour / 6,
      onLooked(of, state) {
        expect(of).toBe('pki/clients-ca');
        told.push(state);
      },
    });
    const world = await start({}, { rotator, publish: false });
    await until(async () => told.length > 0);
    expect(told.at(-1)).toEqual({ phase: 'steady' });
    await world.request();
    const text = `a ClusterTrustBundle of ${signerName}`;
    const since = world.clock.now();
    await until(async () => told.at(-1)?.lacking !== undefined);
    expect(told.at(-1)).toEqual({ phase: 'announced', since, lacking: { text, since } });
    const found = await world.secrets.get(secret);
    await world.secrets.update({ ...found!, data: { ...found?.data, 'rotation.json': 'eA==' } });
    await until(async () => told.at(-1)?.phase === 'unusable');
    await world.stop();
    expect(told.at(-1)).toBe(undefined);
  });

  test('begins before the CA ends, and completes although the server fails now and then', async () => {
    const world = await start();
    let calls = 0;
    world.client.fail = ({ verb }) => (verb !== 'watch' && ++calls % 7 === 0 ? serviceUnavailable('down') : undefined);
    await pass(world, 100 * hour);
    world.client.fail = () => undefined;
    expect((await world.state()).generation).toBeGreaterThanOrEqual(3);
    await world.stop();
  });

  test('completes with a crash before and after every write, and nothing fails meanwhile', async () => {
    let crash = new AbortController();
    const crashes: string[] = [];
    const rotator: Runnable = {
      name: 'ca-rotation',
      async run(context) {
        while (!context.signal.aborted) {
          crash = new AbortController();
          const signal = AbortSignal.any([context.signal, crash.signal]);
          await rotation().run({ ...context, signal });
        }
      },
    };
    const world = await start({}, { rotator });
    const issuers = new Set<string>();
    const fail: typeof world.client.fail = ({ verb, plural }) => {
      if (plural !== 'secrets' || verb !== 'update') return undefined;
      const isBefore = crashes.at(-1) !== 'before';
      crashes.push(isBefore ? 'before' : 'after');
      if (isBefore) crash.abort();
      else queueMicrotask(() => crash.abort());
      return isBefore ? serviceUnavailable('crashed') : undefined;
    };
    await pass(world, hour);
    await world.request();
    world.client.fail = fail;
    await until(async () => (await world.state()).next !== undefined);
    for (let hours = 0; hours < 12 && phaseOf(await world.state()) !== 'steady'; hours++) {
      await pass(world, hour);
      const anchor = world.signs()?.anchors ?? 'none';
      issuers.add(anchor);
      for (const bundle of await world.bundles()) expect(bundle).toContain(anchor);
    }
    // Once for each step: announce, note-seen, switch, retire.
    expect(crashes).toEqual(Array.from({ length: 4 }, () => ['before', 'after']).flat());
    expect(await world.state()).toMatchObject({ generation: 2, retiring: [] });
    expect(issuers.size).toBe(2);
    world.client.fail = () => undefined;
    await world.stop();
  });

  test('waits while a bundle lacks the anchor', async () => {
    const world = await start({}, { publish: false });
    await world.request();
    await until(async () => (await world.state()).next !== undefined);
    await pass(world, 12 * hour);
    expect(phaseOf(await world.state())).toBe('announced');
    const warning = `a ClusterTrustBundle of ${signerName} lacks the next anchor; the rotation waits for it`;
    expect(world.complaints.join()).toContain(warning);
    expect((await world.client.resource(Events).list()).items.map(({ message }) => message)).toContain(warning);
    await world.stop();
  });

  test('announces another CA if bundles lacked the anchor for too long', async () => {
    const world = await start({}, { publish: false });
    await world.request();
    await until(async () => (await world.state()).next !== undefined);
    const { signing, next } = await world.state();
    await pass(world, 50 * hour);
    await until(async () => (await world.state()).next?.pair.key !== next?.pair.key);
    const { signing: after, next: other } = await world.state();
    expect(after).toEqual(signing);
    expect(other && certificateOf(other.pair).notAfter).toBeGreaterThan(world.clock.now() + hour);
    await world.stop();
  });

  test('keeps the signing key although the clock was ahead for a while', async () => {
    const world = await start();
    const { signing } = await world.state();
    const now = world.clock.now();
    world.clock.set(now + 365 * 24 * hour);
    await pass(world, hour / 3);
    await until(async () => (await world.state()).next !== undefined);
    world.clock.set(now + hour / 3);
    await pass(world, hour);
    await until(async () => {
      const { next } = await world.state();
      return next !== undefined && certificateOf(next.pair).notBefore <= world.clock.now();
    });
    expect((await world.state()).signing).toEqual(signing);
    await world.stop();
  });

  test.each([
    ['waits while a distributed ConfigMap lacks the anchor', 'kedge', false, 1.5, 'announced'],
    ['does not wait forever for a copy that is overwritten again and again', 'kedge', false, 6, 'steady'],
    ["does not wait for another owner's object with the labels of a bundle", 'somebody', false, 6, 'steady'],
    ['does not wait for an object that is stuck in deletion', 'kedge', true, 6, 'steady'],
  ])('%s', async (_, owner, isGoing, hours, phase) => {
    const world = await start({ distributed: ['corp'] });
    const labels = { 'kedge.internal/trust-owner': owner, 'kedge.internal/trust-bundle': 'corp' };
    await world.client.resource(ConfigMaps).create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'corp', namespace: 'a', labels, ...(isGoing ? { finalizers: ['example.com/mine'] } : {}) },
      data: { 'ca.crt': anchorOf((await world.state()).signing) },
    });
    if (isGoing) await world.client.resource(ConfigMaps).delete({ namespace: 'a', name: 'corp' });
    await world.request();
    await until(async () => (await world.state()).next !== undefined);
    await pass(world, hours * hour);
    expect(phaseOf(await world.state())).toBe(phase);
    const { items } = await world.client.resource(Events).list();
    const heldUp = items
      .filter(({ reason }) => reason === 'CaRotationHeldUp')
      .map(({ type, message }) => [type, message]);
    const isSpoilt = owner === 'kedge' && !isGoing && phase === 'steady';
    const warning = 'ConfigMap a/corp still lacks the next anchor; the rotation no longer waits for it';
    expect(heldUp).toEqual(isSpoilt ? expect.arrayContaining([['Warning', warning]]) : []);
    expect(world.complaints.join().includes(warning)).toBe(isSpoilt);
    await world.stop();
  });

  test('refuses a request while a rotation is in progress', async () => {
    const world = await start({}, { publish: false });
    await world.request();
    await until(async () => (await world.state()).next !== undefined);
    const { next } = await world.state();
    await world.request();
    await pass(world, hour);
    expect((await world.state()).next).toEqual(next);
    expect((await world.secrets.get(secret))?.metadata.annotations).not.toHaveProperty('kedge.internal/rotate');
    expect(world.complaints.join()).toContain('a rotation is in progress');
    await world.stop();
  });

  test('is refused for a CA that cannot be replaced in time', () => {
    const policy = { ...ca.policy, maxSeconds: (47 * hour) / 1_000 };
    expect(() => rotation({ policy })).toThrow(
      'the CA in pki/clients-ca cannot be rotated with these settings: the next one would expire before the certificates it signs',
    );
  });

  test('leaves a CA alone that was replaced by hand, and the signer keeps the old one', async () => {
    const world = await start();
    const before = world.signs()?.anchors;
    const other = await testAuthority();
    const pair = await other.issueAuthority({ commonName: 'by hand' });
    const found = await world.secrets.get(secret);
    if (found === undefined) throw new Error('gone');
    const bytes = (text: string): string => Buffer.from(text).toString('base64');
    const data = { ...found.data, 'tls.crt': bytes(pair.certificate), 'tls.key': bytes(pair.key) };
    await world.secrets.update({ ...found, data });
    await pass(world, hour);
    expect((await world.secrets.get(secret))?.data).toEqual(data);
    expect(world.complaints.join()).toContain('does not contain a valid state');
    expect(world.signs()?.anchors).toBe(before);
    await world.stop();
  });
});

test('a CA in a Secret works without a rotation state', async () => {
  const root = await testAuthority();
  const pair = await root.issueAuthority({ commonName: 'plain' });
  const stop = new AbortController();
  const world = await runControllers([], (client) =>
    client.resource(Secrets).create({
      apiVersion: groupVersion(Secrets),
      kind: 'Secret',
      metadata: secret,
      data: {
        'tls.crt': Buffer.from(pair.certificate).toString('base64'),
        'tls.key': Buffer.from(pair.key).toString('base64'),
      },
    }),
  );
  const follow = followCaSecret(world.client, secret, { clock: world.clock, signal: stop.signal, log: silentLogger });
  expect(() => follow.current()).toThrow('no CA in the Secret pki/clients-ca: it was not found');
  await follow.ready;
  expect(follow.current().certificate.subject.commonName).toBe('plain');
  expect(follow.anchors()).toBe(root.anchors);
  await world.client.resource(Secrets).delete(secret);
  await settled();
  expect(follow.current().certificate.subject.commonName).toBe('plain');
  stop.abort();
  await world.stop();
});

test.each<[string, number, number, string[]]>([
  ['less than a tenth of its life', 0, 90, ['a CA is about to expire']],
  ['half of its life', 0, 50, []],
  ['more than its longest certificate, and a rotation,', 9, 90, []],
  ['less than its longest certificate, and a rotation,', 10, 90, ['a CA is about to expire']],
])('a CA in a Secret is warned of or not, with %s left', async (_, longestDays, passedDays, expected) => {
  const day = 24 * hour;
  const signing = await createAuthorityKeyPair(
    { commonName: 'ca', seconds: (100 * day) / 1_000 + 300 },
    new FakeClock(),
  );
  const longestSeconds = (longestDays * day) / 1_000;
  const world = await runControllers([], async (client, clock) => {
    await client.resource(Secrets).create({
      apiVersion: groupVersion(Secrets),
      kind: 'Secret',
      metadata: secret,
      data: writeCaState({ generation: 1, signing, retiring: [], longestSeconds }),
    });
    clock.set(clock.now() + passedDays * day + 1);
  });
  const warned: string[] = [];
  const log = { ...silentLogger, warn: (_fields: object, message: string) => void warned.push(message) };
  const stop = new AbortController();
  await followCaSecret(world.client, secret, { clock: world.clock, signal: stop.signal, log }).ready;
  expect(warned).toEqual(expected);
  stop.abort();
  await world.stop();
});
