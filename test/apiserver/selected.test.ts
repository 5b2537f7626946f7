import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ConfigMap, ConfigMaps } from '../../src/api/kinds/config-map.js';
import type { ResourceClient } from '../../src/client/client.js';
import { type TestServer, testServer } from '../../src/testing/test-server.js';

let server: TestServer;
let configMaps: ResourceClient<ConfigMap>;
const namespace = 'default';
beforeAll(async () => {
  server = await testServer({ controllers: [] });
  configMaps = server.client.resource(ConfigMaps);
  const objects: Readonly<Record<string, Readonly<Record<string, string>> | undefined>> = {
    a: { tier: 'one' },
    'b-a': { tier: 'one', app: 'x' },
    c: undefined,
  };
  for (const [name, labels] of Object.entries(objects)) {
    const metadata = { name, namespace, ...(labels === undefined ? {} : { labels }) };
    await configMaps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
  }
});
afterAll(() => server.stop());

const names = async (options: { readonly labelSelector?: string; readonly fieldSelector?: string }) =>
  (await configMaps.list({ namespace, ...options })).items.map(({ metadata }) => metadata.name);

test.each([
  [{ labelSelector: 'tier=one' }, ['a', 'b-a']],
  [{ labelSelector: '!tier' }, ['c']],
  [{ fieldSelector: 'metadata.name=a' }, ['a']],
  [{ fieldSelector: 'metadata.name!=a' }, ['b-a', 'c']],
  [{ fieldSelector: 'metadata.name=a', labelSelector: 'app' }, []],
  [{ fieldSelector: 'metadata.namespace=default', labelSelector: 'app' }, ['b-a']],
])('%j selects %j, however often it is asked', async (options, expected) => {
  expect(await names(options)).toEqual(expected);
  expect(await names(options)).toEqual(expected);
});

test('labels that changed are those that count', async () => {
  await configMaps.patch({ namespace, name: 'c' }, { type: 'merge', body: { metadata: { labels: { tier: 'two' } } } });
  expect(await names({ labelSelector: 'tier=two' })).toEqual(['c']);
  await configMaps.patch({ namespace, name: 'c' }, { type: 'merge', body: { metadata: { labels: null } } });
  expect(await names({ labelSelector: 'tier=two' })).toEqual([]);
});
