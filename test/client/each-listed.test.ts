import { expect, test } from 'vitest';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { eachListed } from '../../src/client/each-listed.js';
import { testServer } from '../../src/testing/test-server.js';

test('objects of all pages are listed once and in order', async () => {
  await using server = await testServer({ controllers: [] });
  const configMaps = server.client.resource(ConfigMaps);
  const names = ['a', 'b', 'c', 'd', 'e'];
  for (const name of names) {
    const metadata = { namespace: 'default', name };
    await configMaps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
  }
  const limits: (number | undefined)[] = [];
  const watched: Pick<typeof configMaps, 'list'> = {
    list: (options) => {
      limits.push(options?.limit);
      return configMaps.list(options);
    },
  };
  const seen: (string | undefined)[] = [];
  for await (const { metadata } of eachListed(watched, { namespace: 'default', limit: 2 })) seen.push(metadata.name);
  expect([seen, limits]).toEqual([names, [2, 2, 2]]);
});
