import { expect, test } from 'vitest';
import { defaultDomains } from '../../src/api/domains.js';
import type { JsonObject } from '../../src/api/object.js';
import { atomicPaths } from '../../src/apply/atomic-paths.js';
import { shapeOfObject } from '../../src/apply/shape.js';
import { podDefinition } from '../../src/resources/pods/definition.js';

const pod = shapeOfObject(podDefinition(defaultDomains).schema);

test.each<[string, JsonObject, readonly string[]]>([
  ['members, and items with keys', { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a' }] } }, []],
  ['a list that is one value', { spec: { containers: [{ name: 'a', args: ['x'] }] } }, ['.spec.containers[0].args']],
  ['an empty list', { spec: { tolerations: [] } }, ['.spec.tolerations']],
  ['a map that is one value', { spec: { nodeSelector: { a: 'b' } } }, ['.spec.nodeSelector']],
  [
    'structures within a list, which are one value each',
    { spec: { imagePullSecrets: [{ name: 'x' }, { name: 'y' }] } },
    ['.spec.imagePullSecrets[0]', '.spec.imagePullSecrets[1]'],
  ],
  ['null, which counts as nothing', { spec: { nodeSelector: null, tolerations: null } }, []],
])('paths that are replaced as a whole: %s', (_, value, expected) => {
  expect(atomicPaths(pod, value)).toEqual(expected);
});
