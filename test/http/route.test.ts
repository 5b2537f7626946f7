import { expect, test } from 'vitest';
import { queryOf, routeOf } from '../../src/http/route.js';

test.each([
  ['watch=1', 'watch', '1'],
  ['?watch=1', 'watch', undefined],
  ['?watch=1', '?watch', '1'],
  ['a;b&??watch=1', '??watch', '1'],
  ['&watch=1', 'watch', '1'],
  ['watch=%zz&watch=1', 'watch', '1'],
])('of the query %s the parameter %s is %s', (text, name, value) => {
  expect(queryOf(text).get(name)).toBe(value);
});

test.each([
  ['', 'a'],
  ['&limit=5&timeoutSeconds=5&labelSelector=b%3Dc&watch=&resourceVersion=x', 'a'],
  ['&limit=abc', ''],
  ['&limit=', ''],
  ['&timeoutSeconds=x', ''],
  ['&timeoutSeconds=', ''],
  ['&labelSelector=(', ''],
  ['&labelSelector=b%3Dc,', ''],
])('a list by one name is about that object if all its options can be read: %s', (more, name) => {
  const query = queryOf(`fieldSelector=metadata.name%3Da${more}`);
  expect(routeOf('GET', '/api/v1/namespaces/default/configmaps', query).name).toBe(name);
});
