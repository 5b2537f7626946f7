import { expect, test } from 'vitest';
import { anchorsIn, caInjector } from '../../controllers/ca-injector/ca-injector.js';
import { type ClusterTrustBundle, ClusterTrustBundles } from '../../src/api/kinds/cluster-trust-bundle.js';
import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
} from '../../src/api/kinds/custom-resource-definition.js';
import {
  MutatingWebhookConfigurations,
  ValidatingWebhookConfigurations,
} from '../../src/api/kinds/webhook-configuration.js';
import { testAuthority } from '../../src/testing/certificates.js';
import { settled } from '../../src/testing/fake-clock.js';
import { runControllers } from './run-controllers.js';

const signerName = 'example.test/serving';
const authorities = await Promise.all([testAuthority(), testAuthority(), testAuthority()]);
const [one = '', two = '', three = ''] = authorities.map(({ anchors }) => anchors);
const both = [one, two].sort().join('');
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const bundle = (id: string, trustBundle: string, signer = signerName): ClusterTrustBundle => ({
  apiVersion: 'certificates.k8s.io/v1beta1',
  kind: 'ClusterTrustBundle',
  metadata: { name: `${signer.replace('/', ':')}:${id}` },
  spec: { signerName: signer, trustBundle },
});
const configuration = (kind: string, name: string) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  metadata: { name },
  webhooks: ['a.example.test', 'b.example.test'].map((each) => ({
    name: each,
    clientConfig: { service: { namespace: 'n', name: 's' } },
    timeoutSeconds: 3,
  })),
});
const definition = (strategy: 'None' | 'Webhook'): CustomResourceDefinition => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${strategy.toLowerCase()}.example.test` },
  spec: {
    group: 'example.test',
    names: { plural: strategy.toLowerCase(), kind: strategy },
    scope: 'Cluster',
    versions: [{ name: 'v1', served: true, storage: true }],
    conversion:
      strategy === 'None'
        ? { strategy }
        : {
            strategy,
            webhook: { clientConfig: { url: 'https://x.test/convert' }, conversionReviewVersions: ['v1'] },
          },
  },
});

async function start(bundles: readonly ClusterTrustBundle[]) {
  const world = await runControllers(
    [
      caInjector({
        signerName,
        mutating: ['ours'],
        validating: ['ours', 'none.test'],
        definitions: ['webhook.example.test', 'none.example.test'],
      }),
    ],
    async (client) => {
      for (const each of bundles) await client.resource(ClusterTrustBundles).create(each);
      for (const name of ['ours', 'theirs']) {
        await client
          .resource(MutatingWebhookConfigurations)
          .create(configuration('MutatingWebhookConfiguration', name));
        await client
          .resource(ValidatingWebhookConfigurations)
          .create(configuration('ValidatingWebhookConfiguration', name));
      }
      for (const each of ['None', 'Webhook'] as const)
        await client.resource(CustomResourceDefinitions).create(definition(each));
    },
  );
  const { client } = world;
  /** Returns each `caBundle` of our objects, or of other objects. */
  const injected = async (name = 'ours') => {
    const mutating = await client.resource(MutatingWebhookConfigurations).get({ name });
    const validating = await client.resource(ValidatingWebhookConfigurations).get({ name });
    const converting = await client.resource(CustomResourceDefinitions).get({ name: 'webhook.example.test' });
    const admission = [...(mutating?.webhooks ?? []), ...(validating?.webhooks ?? [])];
    const configs = [
      ...admission.map(({ clientConfig }) => clientConfig),
      ...(name === 'ours' ? [converting?.spec.conversion?.webhook?.clientConfig] : []),
    ];
    return configs.map((config) => Buffer.from(config?.caBundle ?? '', 'base64').toString());
  };
  return { ...world, bundles: client.resource(ClusterTrustBundles), injected };
}

const everywhere = (anchors: string): readonly string[] => Array(5).fill(anchors);

test('the anchors of all bundles of the signer are injected into the named targets, and nowhere else', async () => {
  const world = await start([bundle('a', one), bundle('b', two), bundle('c', three, 'example.test/other')]);
  expect(await world.injected()).toEqual(everywhere(both));
  expect(await world.injected('theirs')).toEqual(Array(4).fill(''));
  const { client } = world;
  const untouched = await client.resource(CustomResourceDefinitions).get({ name: 'none.example.test' });
  expect(untouched?.spec).toEqual(definition('None').spec);
  const ours = await client.resource(MutatingWebhookConfigurations).get({ name: 'ours' });
  expect(ours?.webhooks?.[1]).toEqual({
    name: 'b.example.test',
    clientConfig: { service: { namespace: 'n', name: 's' }, caBundle: base64(both) },
    timeoutSeconds: 3,
  });
  expect(world.complaints).toEqual([]);
  await world.stop();
});

test('injected anchors follow the bundles, and stay when the last bundle is deleted', async () => {
  const world = await start([]);
  expect(await world.injected()).toEqual(everywhere(''));
  await world.bundles.create(bundle('a', one));
  await settled();
  expect(await world.injected()).toEqual(everywhere(one));
  await world.bundles.create(bundle('b', two));
  await world.bundles.delete({ name: 'example.test:serving:a' });
  await settled();
  expect(await world.injected()).toEqual(everywhere(two));
  await world.bundles.delete({ name: 'example.test:serving:b' });
  await settled();
  expect(await world.injected()).toEqual(everywhere(two));
  await world.stop();
});

test('removed anchors are restored, new configurations get them, and nothing is written twice', async () => {
  const world = await start([bundle('a', one)]);
  const configurations = world.client.resource(ValidatingWebhookConfigurations);
  await configurations.delete({ name: 'ours' });
  await settled();
  await configurations.create(configuration('ValidatingWebhookConfiguration', 'ours'));
  await settled();
  expect(await world.injected()).toEqual(everywhere(one));
  const before = world.client.writes.length;
  await world.bundles.create(bundle('b', one));
  await settled();
  expect(world.client.writes.slice(before)).toEqual(['create clustertrustbundles example.test:serving:b']);
  await world.stop();
});

test('two injectors that disagree write at a limited rate', async () => {
  const other = 'example.test/other';
  const world = await runControllers(
    [
      caInjector({ signerName, mutating: ['ours'] }),
      caInjector({ signerName: other, mutating: ['ours'], name: 'other' }),
    ],
    async (client) => {
      await client.resource(ClusterTrustBundles).create(bundle('a', one));
      await client.resource(ClusterTrustBundles).create(bundle('b', two, other));
      const ours = configuration('MutatingWebhookConfiguration', 'ours');
      await client.resource(MutatingWebhookConfigurations).create(ours);
    },
  );
  const updates = () => world.client.writes.filter((write) => write.startsWith('update')).length;
  await world.clock.advance(9_000);
  const first = updates();
  // Ten checks each at first, then one in two seconds.
  expect(first).toBeLessThanOrEqual(2 * (10 + 5));
  await world.clock.advance(20_000);
  expect(updates()).toBeGreaterThan(first);
  expect(updates()).toBeLessThanOrEqual(2 * (10 + 15));
  await world.stop();
});

test('the order of bundles does not matter', () => {
  expect(anchorsIn([bundle('a', one), bundle('b', two)])).toBe(anchorsIn([bundle('b', two + one)]));
});
