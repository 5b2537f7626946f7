import { expect, test } from 'vitest';
import { Served } from '../../src/apiserver/catalogue.js';
import type { ResourceDefinition } from '../../src/registry/resource-definition.js';

const kind = (more: Partial<ResourceDefinition>) =>
  ({ group: 'g.io', version: 'v1', plural: 'things', namespaced: true, ...more }) as ResourceDefinition;

test.each<[string, Partial<ResourceDefinition>]>([
  ['of the same name', {}],
  ['in another version', { version: 'v2' }],
  ['where it lies in the store', { group: 'home.io' }],
])('a custom resource is not served in the place of a built-in one: %s', (_name, more) => {
  const served = new Served([kind({ homeGroup: 'home.io' })], [kind(more), kind({ plural: 'others' })]);
  expect(served.definitions.map(({ group, version, plural }) => `${group}/${version}/${plural}`)).toEqual([
    'g.io/v1/things',
    'g.io/v1/others',
  ]);
  expect(served.find('g.io', 'v2', 'things') ?? served.find('home.io', 'v1', 'things')).toBeUndefined();
});
