import { expect, test } from 'vitest';
import { controllerReference } from '../../src/api/controller-reference.js';
import { type Secret, Secrets } from '../../src/api/kinds/secret.js';
import type { ControllerSpec, Trigger } from '../../src/controller/controller.js';
import { defineController } from '../../src/controller/define-controller.js';
import { owned } from '../../src/controller/owned.js';
import { referredTo } from '../../src/controller/referred-to.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { FakeClock, settled } from '../../src/testing/fake-clock.js';
import { FakeClient } from '../fake-client.js';

const secret = (name: string, more: object = {}): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'n', ...more },
});
const ownedByIt = { ownerReferences: [controllerReference(secret('it', { uid: 'u' }))] };

const triggers: readonly (readonly [string, Trigger<Secret>])[] = [
  ['owned', owned(Secrets, { owner: Secrets })],
  [
    'referred to',
    referredTo(Secrets, {
      by: Secrets,
      keys: ({ metadata }) => (metadata.name === 'it' ? [{ namespace: 'n', name: 'a' }] : []),
    }),
  ],
];

test.each(triggers)('a trigger for %s objects keeps only their identity and owners in memory', (_, { transform }) => {
  const held = { uid: 'u', resourceVersion: '1', ...ownedByIt };
  const more = { labels: { a: 'b' }, annotations: { 'kubectl.kubernetes.io/last-applied-configuration': 'data' } };
  expect(transform?.(secret('a', { ...held, ...more, managedFields: [{ manager: 'm' }] }))).toEqual(secret('a', held));
});

test.each<[string, Pick<ControllerSpec<Secret>, 'metadataOnly' | 'transform' | 'labelSelector'>, number]>([
  ['whole', {}, 1],
  ['for their metadata', { metadataOnly: true }, 1],
  [
    'transformed',
    { transform: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata: { ...metadata } }) },
    2,
  ],
  ['by selector', { labelSelector: '!a' }, 2],
])('objects of its own kind that a controller also watches %s share a watch if possible', async (_, held, watches) => {
  for (const [, trigger] of triggers) {
    const clock = new FakeClock();
    const client = new FakeClient(clock);
    const stop = new AbortController();
    const seen: string[] = [];
    const running = defineController({
      name: 'test',
      for: Secrets,
      ...held,
      alsoOn: [trigger],
      reconcile: async ({ metadata }) => void seen.push(metadata.name ?? ''),
    }).run({ client, clock, log: silentLogger, signal: stop.signal });
    await client.resource(Secrets).create(secret('it'));
    await settled();
    expect(client.watching).toBe(watches);
    seen.length = 0;
    await client.resource(Secrets).create(secret('a', ownedByIt));
    await settled();
    expect(new Set(seen)).toEqual(new Set(['a', 'it']));
    stop.abort();
    await running;
  }
});
