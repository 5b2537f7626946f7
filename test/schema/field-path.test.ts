import { expect, test } from 'vitest';
import { followPath } from '../../src/schema/field-path.js';
import { readSchemaProps } from '../../src/schema/json-schema-props.js';

const schema = readSchemaProps(
  {
    properties: {
      spec: { properties: { 'a.b': { type: 'string' }, m: { additionalProperties: { type: 'integer' } } } },
      any: { additionalProperties: true },
    },
  },
  [],
);

test.each([
  [".spec['a.b']", 'spec.a.b'],
  ['.spec.m.any', 'spec.m[any]'],
  ['.any.thing', 'any[thing]'],
  ['', ''],
])('%j is valid', (path, text) => {
  expect(followPath(path, schema, { brackets: true })).toMatchObject({ text });
});

test.each([
  ['spec', 'expected [ or . but got: spec'],
  ['.spec.x', 'does not refer to a valid field'],
  ['.spec.m.any.more', 'does not refer to a valid field'],
  ['.any.thing.more', 'does not refer to a valid field'],
  ['.spec.', 'unexpected end of JSON path'],
  ['.spec[0]', 'expected single quoted string but got 0'],
  [".spec['m'", 'unexpected end of JSON path'],
])('%j is invalid: %s', (path, why) => {
  expect(followPath(path, schema, { brackets: true })).toBe(why);
});

test('brackets can be disallowed', () => {
  expect(followPath(".spec['m']", schema, { brackets: false })).toBe('array notation is not allowed');
});
