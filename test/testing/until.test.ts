import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { serviceUnavailable } from '../../src/api/errors.js';
import { type ConfigMap, ConfigMaps } from '../../src/api/kinds/config-map.js';
import { CustomResourceDefinitions } from '../../src/api/kinds/custom-resource-definition.js';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import type { ResourceClient } from '../../src/client/client.js';
import { type TestServer, testServer } from '../../src/testing/test-server.js';
import { eventually, NeverHeld, type Selection, until, untilAny, untilList } from '../../src/testing/until.js';
import { Gadgets, gadgetDefinition } from './gadget.js';

let kit: TestServer;
let configMaps: ResourceClient<ConfigMap>;
const key = { namespace: 'default', name: 'a' };
beforeAll(async () => {
  kit = await testServer({ controllers: [] });
  configMaps = kit.client.resource(ConfigMaps);
});
afterAll(() => kit.stop());

const soon = { timeoutMs: 1 };
const failure = (waiting: Promise<unknown>): Promise<unknown> => waiting.catch((error: unknown) => error);

test('a timeout reports the last state, whatever value that is', async () => {
  const looped: { self?: unknown } = {};
  looped.self = looped;
  const last: readonly (readonly [unknown, string])[] = [
    [undefined, 'none'],
    [{ a: 1 }, '{"a":1}'],
    [2n ** 60n, '1152921504606846976'],
    [{ n: [2n ** 60n] }, '{"n":[1152921504606846976]}'],
    [looped, '<ref *1> { self: [Circular *1] }'],
  ];
  for (const [answer, text] of last) {
    const error = await failure(
      eventually(
        () => answer,
        () => false,
        soon,
      ),
    );
    expect(error).toBeInstanceOf(NeverHeld);
    expect(error).toHaveProperty('message', `condition: not within 1 ms; last answer: ${text}`);
  }
});

test('a timeout reports an object with a number beyond the precision of a double', async () => {
  const large: ResourceClient<ConfigMap> = {
    ...configMaps,
    get: async () => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: key, n: 2n ** 60n }),
  };
  const error = await failure(until(large, key, () => false, soon));
  expect(error).toBeInstanceOf(NeverHeld);
  expect(error).toHaveProperty('message', expect.stringContaining('"n":1152921504606846976'));
});

test('a timeout on a custom resource definition names the controllers it needs, and omits managedFields', async () => {
  const definitions = kit.client.resource(CustomResourceDefinitions);
  await definitions.create(gadgetDefinition);
  const error = await failure(until(definitions, { name: 'gadgets.example.com' }, () => false, soon));
  expect(error).toHaveProperty('message', expect.stringMatching(/crd-names and crd-established have to run$/));
  expect(error).not.toHaveProperty('message', expect.stringContaining('managedFields'));
  await definitions.delete({ name: 'gadgets.example.com' });
});

test('the timeout comes from the environment, and by default is shorter than that of test runners', async () => {
  const waited = () => failure(until(configMaps, key, () => false, { what: 'never' }));
  try {
    vi.stubEnv('KEDGE_TEST_TIMEOUT_MS', '2');
    expect(await waited()).toHaveProperty('message', expect.stringContaining('never: not within 2 ms'));
    vi.stubEnv('KEDGE_TEST_TIMEOUT_MS', undefined);
    vi.useFakeTimers({
      toFake: ['Date', 'setTimeout', 'clearTimeout'],
      shouldAdvanceTime: true,
      advanceTimeDelta: 1_000,
    });
    expect(await waited()).toHaveProperty('message', expect.stringContaining('never: not within 4000 ms'));
  } finally {
    vi.useRealTimers();
    vi.unstubAllEnvs();
  }
});

test('an API error means not yet, and is reported if it stays', async () => {
  const gadgets = kit.client.resource(Gadgets);
  const key = { namespace: 'default', name: 'g' };
  const error = await failure(until(gadgets, key, () => true, soon));
  expect(error).toBeInstanceOf(NeverHeld);
  expect(error).toMatchObject({
    message:
      'default/g: not within 1 ms; last seen: none; last answer: the server could not find the requested resource (get gadgets.example.com)',
    cause: { reason: 'NotFound' },
  });
  let tries = 3;
  const late: ResourceClient<ConfigMap> = {
    ...configMaps,
    get: async () => {
      if (--tries > 0) throw serviceUnavailable('not yet');
      return { apiVersion: 'v1', kind: 'ConfigMap', metadata: key };
    },
  };
  expect(await until(late, key, (map) => map !== undefined)).toHaveProperty('metadata', key);
});

test('a connection error and an error of the condition fail at once', async () => {
  const trouble = new Error('no connection');
  const gone: ResourceClient<ConfigMap> = { ...configMaps, get: () => Promise.reject(trouble) };
  expect(await failure(until(gone, key, () => true))).toBe(trouble);
  const conditions = until(configMaps, key, () => {
    throw trouble;
  });
  expect(await failure(conditions)).toBe(trouble);
});

test('the awaited object has the type that the condition proves', async () => {
  const waiting = until(configMaps, { ...key, name: 'b' }, (map) => map !== undefined);
  await configMaps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...key, name: 'b' } });
  const { metadata } = await waiting;
  expect(metadata.name).toBe('b');
});

const named = (name: string, labels: Record<string, string> = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'many', name, labels },
});

test('lists and objects without a known name can be awaited with a condition', async () => {
  await kit.client.resource(Namespaces).create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'many' } });
  const two = untilList(configMaps, { namespace: 'many' }, ({ length }) => length === 2);
  const red = untilAny(configMaps, { namespace: 'many' }, isRed);
  await configMaps.create(named('a'));
  await configMaps.create({
    ...named(''),
    metadata: { namespace: 'many', generateName: 'b-', labels: { team: 'red' } },
  });
  expect((await two).map(({ metadata }) => metadata.name?.slice(0, 1))).toEqual(['a', 'b']);
  const { metadata } = await red;
  expect(metadata.labels.team).toBe('red');
  await configMaps.deleteCollection({ namespace: 'many' });
  expect(await untilList(configMaps, { namespace: 'many' }, ({ length }) => length === 0)).toEqual([]);
});

interface Red extends ConfigMap {
  readonly metadata: ConfigMap['metadata'] & { readonly labels: { readonly team: 'red' } };
}
const isRed = (map: ConfigMap): map is Red => map.metadata.labels?.['team'] === 'red';

test('a timeout on a list reports the last items and the selectors', async () => {
  const never = (selection: Selection) => failure(untilList(configMaps, selection, () => false, soon));
  expect(
    await never({ namespace: 'default', labelSelector: 'app=web', fieldSelector: 'metadata.name=x' }),
  ).toHaveProperty('message', 'objects in default with app=web, metadata.name=x: not within 1 ms; last seen: none');
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) await configMaps.create(named(name, { app: 'web' }));
  const error = await failure(untilAny(configMaps, { labelSelector: 'app=web' }, () => false, soon));
  expect(error).toHaveProperty(
    'message',
    expect.stringMatching(
      /^objects with app=web: not within 1 ms; last seen: 7: \{.*"name":"e".*\}, many\/f, many\/g$/,
    ),
  );
  expect(error).not.toHaveProperty('message', expect.stringContaining('managedFields'));
  for (let i = 0; i < 60; i++) await configMaps.create(named(`h${i}`, { app: 'web' }));
  expect(await never({ labelSelector: 'app=web' })).toHaveProperty(
    'message',
    expect.stringMatching(/last seen: 67: .*, many\/f, many\/g, many\/h0, .*, many\/h\d+, and 12 more$/),
  );
  const asked = eventually(
    async () => (await configMaps.list({ namespace: 'many' })).items,
    () => false,
    soon,
  );
  expect(await failure(asked)).not.toHaveProperty('message', expect.stringContaining('managedFields'));
});

test('the awaited value has the type that the predicate proves', async () => {
  let rounds = 0;
  const found = await eventually(
    () => (++rounds < 3 ? undefined : { rounds }),
    (answer) => answer !== undefined,
  );
  expect(found.rounds).toBe(3);
});
