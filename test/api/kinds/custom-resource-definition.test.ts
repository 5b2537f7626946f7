import { expect, test } from 'vitest';
import {
  type CustomResourceDefinition,
  compareVersions,
  deprecationWarning,
  servedVersions,
} from '../../../src/api/kinds/custom-resource-definition.js';

const best = ['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta1', 'v12alpha1', 'v11alpha2', 'foo1', 'foo10'];

test('versions are sorted by the priority that clients expect', () => {
  expect([...best].reverse().sort(compareVersions)).toEqual(best);
  const odd = ['v9223372036854775807', 'v9', 'v01', 'v0', 'v1beta2', 'v1beta01', 'v0beta9', 'v9223372036854775808'];
  expect([...odd].reverse().sort(compareVersions)).toEqual(odd);
});

const crd = (...versions: readonly object[]): CustomResourceDefinition =>
  ({
    spec: { group: 'example.com', names: { plural: 'widgets', kind: 'Widget' }, versions },
  }) as unknown as CustomResourceDefinition;
const of = (name: string, more: object = {}): object => ({ name, served: true, storage: false, ...more });

test('servedVersions lists the served versions, best first', () => {
  expect(servedVersions(crd(of('v1alpha1'), of('v2', { served: false }), of('v1')))).toEqual(['v1', 'v1alpha1']);
});

test.each<[string, readonly object[], string | undefined]>([
  ['no warning for a version that is not deprecated', [of('v1')], undefined],
  ['a warning text of its own', [of('v1', { deprecated: true, deprecationWarning: 'no' })], 'no'],
  [
    'the best newer version is recommended',
    [of('v1beta1', { deprecated: true }), of('v1'), of('v2')],
    'example.com/v1beta1 Widget is deprecated; use example.com/v2 Widget',
  ],
  [
    'no newer version is served',
    [of('v1', { deprecated: true }), of('v2', { served: false }), of('v1beta1')],
    'example.com/v1 Widget is deprecated',
  ],
])('deprecation warning: %s', (_, versions, text) => {
  const [first] = versions as readonly { readonly name: string }[];
  expect(deprecationWarning(crd(...versions), first?.name ?? '')).toBe(text);
});
