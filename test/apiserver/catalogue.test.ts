import { expect, test } from 'vitest';
import { Catalogue, Served } from '../../src/apiserver/catalogue.js';
import type { ResourceDefinition } from '../../src/registry/resource-definition.js';

const kind = (more: Partial<ResourceDefinition>) =>
  ({ group: 'g.io', version: 'v1', plural: 'things', namespaced: true, ...more }) as ResourceDefinition;

test.each<[string, Partial<ResourceDefinition>]>([
  ['with the same name', {}],
  ['in another version', { version: 'v2' }],
  ['with the same place in the store', { group: 'home.io' }],
])('a custom resource does not replace a built-in one: %s', (_name, more) => {
  const served = new Served([kind({ homeGroup: 'home.io' })], [kind(more), kind({ plural: 'others' })]);
  expect(served.definitions.map(({ group, version, plural }) => `${group}/${version}/${plural}`)).toEqual([
    'g.io/v1/things',
    'g.io/v1/others',
  ]);
  expect(served.find('g.io', 'v2', 'things') ?? served.find('home.io', 'v1', 'things')).toBeUndefined();
});

test('unchanged groups keep their objects, and listeners hear only about their own definition', () => {
  const as = kind({ group: 'a.io', plural: 'as' });
  const old = kind({ group: 'a.io', plural: 'as', version: 'v1beta1' });
  const bs = kind({ group: 'b.io', plural: 'bs' });
  const catalogue = new Catalogue([kind({})]);
  catalogue.setCustom([as, old, bs]);
  const told: string[] = [];
  const stops = [as, as, bs].map((one, at) => catalogue.onChange(one, () => told.push(`${one.plural}${at}`)));
  const versions = (): unknown[] =>
    catalogue
      .current()
      .groups.map((group) => [
        group.name,
        group === before.get(group.name),
        ...group.versions.flatMap(({ version, definitions }) =>
          definitions.map(({ plural }) => `${version} ${plural}`),
        ),
      ]);
  const groups = () => new Map(catalogue.current().groups.map((group) => [group.name, group]));
  let before = groups();

  catalogue.setCustom([as, old, kind({ group: 'b.io', plural: 'bs' })]);
  expect([versions(), told]).toEqual([
    [
      ['g.io', true, 'v1 things'],
      ['a.io', true, 'v1 as', 'v1beta1 as'],
      ['b.io', false, 'v1 bs'],
    ],
    ['bs2'],
  ]);

  stops[0]?.();
  before = groups();
  catalogue.setCustom([as]);
  expect([versions(), told]).toEqual([
    [
      ['g.io', true, 'v1 things'],
      ['a.io', false, 'v1 as'],
    ],
    ['bs2', 'bs2'],
  ]);

  catalogue.setCustom([]);
  expect(told).toEqual(['bs2', 'bs2', 'as1']);
  for (const stop of stops) stop();
  catalogue.setCustom([as, bs]);
  expect(told).toHaveLength(3);
});
