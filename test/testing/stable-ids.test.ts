import { expect, test } from 'vitest';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { stableIds } from '../../src/testing/stable-ids.js';
import { testServer } from '../../src/testing/test-server.js';

const map = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name } });
const generated = (generateName: string) => ({ ...map(''), metadata: { namespace: 'default', generateName } });

/** Creates the objects of a test after another object, which must not influence them. */
async function made(before: string, options: { readonly stableIds?: boolean }) {
  await using kit = await testServer({ controllers: [], clock: new FakeClock(), ...options });
  const maps = kit.client.resource(ConfigMaps);
  await maps.create(map(before));
  const first = await maps.create(map('a'));
  await maps.delete({ namespace: 'default', name: 'a' });
  const objects = [
    first,
    await maps.create(map('a')),
    await maps.create(generated('g-')),
    await maps.create(generated('g-')),
  ];
  const namespace = await kit.client.resource(Namespaces).get({ name: 'default' });
  return [namespace?.metadata.uid, ...objects.map(({ metadata: { name, uid } }) => `${name} ${uid}`)];
}

test('uids and generated names are the same in every run, and all distinct', async () => {
  const one = await made('x', { stableIds: true });
  expect(await made('y', { stableIds: true })).toEqual(one);
  expect(new Set(one).size).toBe(one.length);
  expect(one[3]).toMatch(/^g-[a-z0-9]{5} [0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('uids and generated names are random by default', async () => {
  const one = await made('x', {});
  const other = await made('x', {});
  expect(one.filter((text) => other.includes(text))).toEqual([]);
});

test('objects with the same generateName get different names', () => {
  const { random } = stableIds();
  const numbers = Array.from({ length: 20 }, () => random('core/configmaps/default/g-')());
  expect(new Set(numbers).size).toBeGreaterThan(15);
  expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
});
