import { expect, test } from 'vitest';
import { keyOfGiven } from '../../src/api/looked-up.js';
import type { ApiObject } from '../../src/api/object.js';

test.each([[undefined], [null], ['text'], [{}], [{ metadata: null }], [{ namespace: 'n', name: 'a' }]])(
  'of %j, which is no object of the API, nobody knows where it is written',
  (given) => {
    expect(() => keyOfGiven(given as unknown as ApiObject)).toThrow(
      expect.objectContaining({ reason: 'BadRequest', message: 'the object that is given has no metadata' }),
    );
  },
);

test('an object is written where its metadata says', () => {
  expect(keyOfGiven({ metadata: { namespace: 'n', name: 'a' } })).toEqual({ namespace: 'n', name: 'a' });
});
