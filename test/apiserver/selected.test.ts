import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ConfigMap, ConfigMaps } from '../../src/api/kinds/config-map.js';
import { readListParameters } from '../../src/api/options.js';
import { isSelected, readForSelection } from '../../src/apiserver/selected.js';
import { readSelection } from '../../src/apiserver/selection.js';
import type { ResourceClient } from '../../src/client/client.js';
import type { ResourceDefinition } from '../../src/registry/resource-definition.js';
import { configMaps as definition } from '../../src/resources/configmaps/definition.js';
import { document, StoredEntry } from '../../src/store/document.js';
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
])('%j selects %j on every request', async (options, expected) => {
  expect(await names(options)).toEqual(expected);
  expect(await names(options)).toEqual(expected);
});

test('changed labels are used', async () => {
  await configMaps.patch({ namespace, name: 'c' }, { type: 'merge', body: { metadata: { labels: { tier: 'two' } } } });
  expect(await names({ labelSelector: 'tier=two' })).toEqual(['c']);
  await configMaps.patch({ namespace, name: 'c' }, { type: 'merge', body: { metadata: { labels: null } } });
  expect(await names({ labelSelector: 'tier=two' })).toEqual([]);
});

test.each([
  ['fieldSelector', 'metadata.name!=b', 'value'],
  ['labelSelector', 'tier=one', 'labels'],
  ['fieldSelector', 'metadata.name=b', 'nothing'],
  ['', '', 'nothing'],
])('for a large entry, %s %s needs %s read in turns', async (parameter, text, what) => {
  const of = definition as object as ResourceDefinition;
  const query = { get: (name: string) => (name === parameter ? text : undefined), all: () => [] };
  const selection = readSelection(of, readListParameters(query));
  const entry = (data: string) => {
    const object = { metadata: { name: 'a', namespace, labels: { tier: 'one' } }, data: { data } };
    return new StoredEntry('/n/a', 1n, document(object).bytes, -1);
  };
  const [small, large] = [entry(''), entry('x'.repeat(70_000))];
  expect(readForSelection(selection, of, [small, undefined])).toBeUndefined();
  const reading = readForSelection(selection, of, [small, large]);
  expect(reading === undefined).toBe(what === 'nothing');
  await reading;
  // A parsed value is available without another step.
  expect([...large.read()].length === 0).toBe(what === 'value');
  expect(isSelected(selection, of, large)).toBe(text !== 'metadata.name=b');
});
