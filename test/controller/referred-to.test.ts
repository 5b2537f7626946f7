import { expect, test } from 'vitest';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import { type Resource, resourceType } from '../../src/api/object.js';
import { defineController } from '../../src/controller/define-controller.js';
import { referredTo } from '../../src/controller/referred-to.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { FakeClock, settled } from '../../src/testing/fake-clock.js';
import { FakeClient } from '../fake-client.js';

type Cert = Resource<{ readonly secretName: string }>;
const Certs = resourceType<Cert>({
  group: 'example.com',
  version: 'v1',
  plural: 'certs',
  kind: 'Cert',
  namespaced: true,
});
const cert = (name: string, secretName: string): Cert => ({
  apiVersion: 'example.com/v1',
  kind: 'Cert',
  metadata: { name, namespace: 'n' },
  spec: { secretName },
});
const secret = (name: string, namespace = 'n') => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace },
});

test('a change wakes the objects that refer to it, and no others', async () => {
  const clock = new FakeClock();
  const client = new FakeClient(clock);
  const stop = new AbortController();
  const seen: string[] = [];
  const trigger = referredTo(Secrets, {
    by: Certs,
    keys: ({ metadata: { namespace }, spec }) => [{ namespace, name: spec.secretName }],
  });
  const controller = (name: string, more: object = {}) =>
    defineController({
      name,
      for: Certs,
      alsoOn: [trigger],
      reconcile: async ({ metadata }) => void seen.push(`${name} ${metadata.name}`),
      ...more,
    });
  const [certs, secrets] = [client.resource(Certs), client.resource(Secrets)];
  await certs.create(cert('a', 's'));
  await certs.create(cert('b', 's'));
  await certs.create(cert('c', 'other'));
  // An object that validation would have rejected.
  await certs.create({ ...cert('d', ''), spec: undefined as never });
  const context = { client, clock, log: silentLogger, signal: stop.signal };
  const running = [controller('one'), controller('two', { labelSelector: 'none' })].map((each) => each.run(context));
  await settled();
  expect(seen.splice(0)).toEqual(['one a', 'one b', 'one c', 'one d']);

  await secrets.create(secret('s'));
  await settled();
  expect(seen.splice(0)).toEqual(['one a', 'one b']);
  await certs.update({
    ...((await certs.get({ namespace: 'n', name: 'b' })) ?? cert('b', '')),
    spec: { secretName: 'x' },
  });
  await settled();
  expect(seen.splice(0)).toEqual(['one b']);
  await secrets.delete({ namespace: 'n', name: 's' });
  await secrets.create(secret('s', 'elsewhere'));
  await client.resource(ConfigMaps).create({ ...secret('x'), kind: 'ConfigMap' });
  await settled();
  expect([...new Set(seen)]).toEqual(['one a']);
  stop.abort();
  await Promise.all(running);
});
