import { expect, test } from 'vitest';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { testServer } from '../../src/testing/test-server.js';

test('an object with very many values can be written in process, although each gets an owner entry', async () => {
  await using server = await testServer({ controllers: [] });
  const { client } = server;
  const configMaps = client.resource(ConfigMaps);
  const data = Object.fromEntries(Array.from({ length: 26_000 }, (_, at) => [`k${at}`, '']));
  const metadata = { namespace: 'default', name: 'many' };
  const made = await configMaps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
  const changed = await configMaps.update({ ...made, data: { ...data, k0: 'x' } });
  expect(changed.data?.['k0']).toBe('x');
});
