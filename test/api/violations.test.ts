import { expect, test } from 'vitest';
import { invalidObject } from '../../src/api/errors.js';
import {
  invalid,
  invalidTypedString,
  maxViolations,
  notSupportedTypedString,
  validateEach,
} from '../../src/api/violations.js';

const many = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);

test('validation of a list stops after a thousand violations', () => {
  let looked = 0;
  const found = validateEach(many(50_000), (item, at) => {
    looked++;
    return [invalid(`items[${at}]`, item)];
  });
  expect(found).toHaveLength(maxViolations);
  expect(looked).toBe(maxViolations);
  expect(found[1]).toEqual({ reason: 'FieldValueInvalid', field: 'items[1]', body: 'Invalid value: 1' });
});

test('a string of a named type is quoted as JSON', () => {
  expect(invalid('f', 'a<b\u001a').body).toBe('Invalid value: "a<b\\x1a"');
  expect(invalidTypedString('f', 'a<b\u001a', 'no').body).toBe('Invalid value: "a\\u003cb\\u001a": no');
  expect(notSupportedTypedString('f', 'a<b$&', ['c', '']).body).toBe(
    'Unsupported value: "a\\u003cb$\\u0026": supported values: "c", ""',
  );
});

test('all violations of a list are reported if they are few', () => {
  const odd = validateEach(many(10), (item) => (item % 2 === 0 ? [] : [invalid('a', item), invalid('b', item)]));
  expect(odd.map(({ field, body }) => `${field} ${body}`)).toHaveLength(10);
});

test.each([
  ['a thousand of many', many(5_000).map((at) => invalid(`f${at}`, at)), maxViolations],
  ['ten of large ones', many(100).map((at) => invalid(`f${at}`, 'x'.repeat(100_000))), 10],
  ['one that exceeds the limit by itself', [invalid('f', 'x'.repeat(3_000_000)), invalid('g', 1)], 1],
])('the number of violations in an answer is limited: %s', (_, violations, told) => {
  const error = invalidObject({ group: '', kind: 'Thing', name: 'a' }, violations);
  expect(error.details?.causes).toHaveLength(told);
});
