import { expect, test } from 'vitest';
import { queryOf } from '../../src/http/route.js';

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
