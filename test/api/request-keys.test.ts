import { expect, test } from 'vitest';
import type { ApiObject } from '../../src/api/object.js';
import { requestKey } from '../../src/api/request-keys.js';

test.each([[undefined], [null], ['text'], [{}], [{ metadata: null }], [{ namespace: 'n', name: 'a' }]])(
  '%j, which is not an API object, is refused as an object without metadata',
  (given) => {
    expect(() => requestKey(given as unknown as ApiObject)).toThrow(
      expect.objectContaining({ reason: 'BadRequest', message: 'the object that is given has no metadata' }),
    );
  },
);

test('the key of an object comes from its metadata', () => {
  expect(requestKey({ metadata: { namespace: 'n', name: 'a' } })).toEqual({ namespace: 'n', name: 'a' });
});
