import { expect, test } from 'vitest';
import { defaultDomains } from '../../src/api/domains.js';
import type { JsonObject } from '../../src/api/object.js';
import { atomicPaths } from '../../src/apply/atomic-paths.js';
import { shapeOfObject } from '../../src/apply/shape.js';
import { podDefinition } from '../../src/resources/pods/definition.js';

const pod = shapeOfObject(podDefinition(defaultDomains).schema);

test.each<[string, JsonObject, readonly string[]]>([
  [
    'members and items that are told apart',
    { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a' }] } },
    [],
  ],
  ['a list that is one value', { spec: { containers: [{ name: 'a', args: ['x'] }] } }, ['.spec.containers[0].args']],
  ['an empty one', { spec: { tolerations: [] } }, ['.spec.tolerations']],
  ['a map that is one value', { spec: { nodeSelector: { a: 'b' } } }, ['.spec.nodeSelector']],
  [
    'structures within lists that are one value',
    { spec: { imagePullSecrets: [{ name: 'x' }, { name: 'y' }] } },
    ['.spec.imagePullSecrets[0]', '.spec.imagePullSecrets[1]'],
  ],
  ['null, which is nothing', { spec: { nodeSelector: null, tolerations: null } }, []],
])('what would be replaced as a whole: %s', (_, value, expected) => {
  expect(atomicPaths(pod, value)).toEqual(expected);
});
