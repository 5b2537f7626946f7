import { expect, test } from 'vitest';
import { controllerReference } from '../../src/api/controller-reference.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import type { OwnerReference, ResourceType } from '../../src/api/object.js';
import { owned } from '../../src/controller/owned.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { FakeClient } from '../fake-client.js';

/** The objects of the controller are not used. */
const noObjects = undefined as never;

const reference = (apiVersion: string, kind: string): OwnerReference =>
  controllerReference({ apiVersion, kind, metadata: { name: 'o', uid: 'u' } });

test.each<[string, readonly OwnerReference[] | undefined, ResourceType, readonly object[]]>([
  ['one in its namespace', [reference('v1', 'Secret')], Secrets, [{ namespace: 'n', name: 'o' }]],
  ['one of another version', [reference('v2', 'Namespace')], Namespaces, [{ name: 'o' }]],
  ['one of no namespace', [reference('v1', 'Namespace')], Namespaces, [{ name: 'o' }]],
  ['nobody', undefined, Secrets, []],
  ['one of another group', [reference('example.com/v1', 'Secret')], Secrets, []],
  ['one of another kind', [reference('v1', 'ConfigMap')], Secrets, []],
  ['an owner that is not its controller', [{ ...reference('v1', 'Secret'), controller: false }], Secrets, []],
])('keys for an object owned by %s', async (_, ownerReferences, owner, keys) => {
  const { keys: keysOf } = owned(ConfigMaps, { owner });
  const map = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: 'n', ...(ownerReferences && { ownerReferences }) },
  };
  expect(await keysOf(map, new FakeClient(new FakeClock()), noObjects)).toEqual(keys);
});
