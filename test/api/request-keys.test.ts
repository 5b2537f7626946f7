import { expect, test } from 'vitest';
import type { ApiObject } from '../../src/api/object.js';
import { requestKey } from '../../src/api/request-keys.js';

test.each([[undefined], [null], ['text'], [{}], [{ metadata: null }], [{ namespace: 'n', name: 'a' }]])(
  'of %j, which is no object of the API, nobody knows where it is written',
  (given) => {
    expect(() => requestKey(given as unknown as ApiObject)).toThrow(
      expect.objectContaining({ reason: 'BadRequest', message: 'the object that is given has no metadata' }),
    );
  },
);

test('an object is written where its metadata says', () => {
  expect(requestKey({ metadata: { namespace: 'n', name: 'a' } })).toEqual({ namespace: 'n', name: 'a' });
});
