import { describe, expect, test } from 'vitest';
import type { AdmissionAttributes } from '../../src/admission/admission-step.js';
import { isReason } from '../../src/api/errors.js';
import { readJson } from '../../src/api/json-text.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import { DeferredWork } from '../../src/api/steps.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { MemoryStore } from '../../src/store/memory/memory-store.js';
import { storeContract } from '../../src/testing/store-contract.js';
import { testServer } from '../../src/testing/test-server.js';
import { until } from '../../src/testing/until.js';
import { write } from '../resources/write.js';
import { namespaceOwner } from './src/admission/steps/namespace-owner.js';
import { labelsPatch } from './src/apiserver/patch/labels.js';
import { auditors } from './src/auth/auditors.js';
import { certificateProfiles } from './src/resources/certificateprofiles/definition.js';
import { loggedStore } from './src/store/logged-store.js';
import { teamDirectory } from './team-directory.js';

/** The code on the pages about extending does what they describe. */

test('the kind has defaults and validation rules', () => {
  const good = write(certificateProfiles, { spec: { signerName: 'example.com/ci' } });
  expect(good.violations).toEqual([]);
  expect(good.object['spec']).toEqual({ signerName: 'example.com/ci', maxSeconds: 3_600 });
  expect(write(certificateProfiles, { spec: { maxSeconds: 5 } }).violations).toEqual([
    'spec.signerName: Required value',
    'spec.maxSeconds: Invalid value: 5: must be at least 600',
  ]);
});

describe('the store fulfils every promise of a store', () => {
  for (const { name, run } of storeContract(async () => loggedStore(new MemoryStore(), silentLogger))) test(name, run);
});

test('the keyed controller reports the namespaces of a team', async () => {
  const { client, stop } = await testServer({ controllers: [], runnables: [teamDirectory] });
  try {
    const namespaces = client.resource(Namespaces);
    const namespace = (name: string) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, labels: { 'example.com/team': 'red' } },
    });
    const directory = { namespace: 'default', name: 'team-red' };
    const says = (text: string) =>
      until(client.resource(ConfigMaps), directory, (found) => found?.data?.['namespaces'] === text);
    const shop = await namespaces.create(namespace('shop'));
    await namespaces.create(namespace('till'));
    await says('shop till');
    await namespaces.update({ ...shop, metadata: { ...shop.metadata, labels: {} } });
    await says('till');
  } finally {
    await stop();
  }
});

test('the admission step requires a label from everyone but administrators', async () => {
  const attributes = (team: string | undefined, groups: readonly string[]): AdmissionAttributes => ({
    operation: 'CREATE',
    resource: Namespaces,
    subresource: undefined,
    key: { name: 'shop' },
    object: {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'shop', ...(team === undefined ? {} : { labels: { 'example.com/team': team } }) },
    },
    previous: undefined,
    user: { username: 'dora', groups },
    dryRun: false,
    warn: () => {},
  });
  const refused = async (team: string | undefined, groups: readonly string[] = []): Promise<boolean> =>
    isReason(await namespaceOwner.validate?.(attributes(team, groups)).catch((error: unknown) => error), 'Forbidden');
  expect(namespaceOwner.handles(attributes(undefined, []))).toBe(true);
  expect(await refused(undefined)).toBe(true);
  expect(await refused('red')).toBe(false);
  expect(await refused(undefined, ['system:masters'])).toBe(false);
});

test('the patch sets and removes labels and nothing else', () => {
  const patch = labelsPatch.read(() => readJson('{"team":"red","tier":null,"__proto__":"x"}'), {
    fieldValidation: 'Strict',
  });
  const object = { metadata: { name: 'a', labels: { tier: '1', kept: 'y' } }, data: { k: 'v' } };
  const patched = patch.apply(object, {}, new DeferredWork());
  expect(JSON.stringify(patched)).toBe(
    '{"metadata":{"name":"a","labels":{"kept":"y","team":"red","__proto__":"x"}},"data":{"k":"v"}}',
  );
  expect(() => labelsPatch.read(() => readJson('[]'), { fieldValidation: 'Strict' })).toThrow('names and values');
});

test('auditors read everything but Secrets', async () => {
  const verdict = async (verb: string, resource: string, groups: readonly string[]): Promise<string> => {
    const question = { user: { username: 'a', groups }, verb, resource, group: '', version: 'v1' };
    return (await auditors('audit').authorize(question)).verdict;
  };
  expect(await verdict('list', 'configmaps', ['audit'])).toBe('allow');
  expect(await verdict('list', 'secrets', ['audit'])).toBe('no-opinion');
  expect(await verdict('create', 'configmaps', ['audit'])).toBe('no-opinion');
  expect(await verdict('list', 'configmaps', [])).toBe('no-opinion');
});
