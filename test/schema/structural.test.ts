import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/object.js';
import { internalForm } from '../../src/schema/internal-form.js';
import { maxSchemaDepth, readSchemaProps, SchemaTooDeep } from '../../src/schema/json-schema-props.js';
import { notStructural, structuralViolations } from '../../src/schema/structural.js';
import { toSchema } from '../../src/schema/to-schema.js';

const prefixes = ['x-kubernetes-', 'x-api-'];
const read = (schema: JsonObject) => readSchemaProps(schema, prefixes);

describe('a schema as written', () => {
  test('is read with every extension prefix', () => {
    const schema = { type: 'array', items: { type: 'string' }, 'x-api-list-type': 'set' };
    expect(toSchema(read(schema))).toEqual({ type: 'array', items: { type: 'string' }, listType: 'set' });
  });

  test('drops wrong types, empty strings and nulls', () => {
    const schema = { type: 1, format: '', default: null, required: 'a', properties: [], enum: {}, maxLength: '1' };
    expect(read(schema)).toEqual({});
  });

  test('may have properties of any name', () => {
    const schema = JSON.parse('{"properties":{"__proto__":{"type":"string"}}}') as JsonObject;
    expect(toSchema(read(schema)).properties?.get('__proto__')).toEqual({ type: 'string' });
  });

  test.each([{}, { description: 'd' }, { url: 'u' }, { description: 'd', url: 'u' }])(
    'keeps given external docs: %j',
    (externalDocs) => {
      const given = { description: '', url: '', ...externalDocs };
      expect(toSchema(read({ externalDocs: given })).externalDocs).toEqual(externalDocs);
      expect(internalForm(read({ externalDocs }))).toMatchObject({
        ExternalDocs: { Description: given.description, URL: given.url },
      });
    },
  );

  test('is printed with sorted members of values', () => {
    const value = { b: [{ d: 1, c: 2 }], a: 1, '\u{1F642}': 1, '\uFF5E': 2 };
    const printed = '{"a":1,"b":[{"c":2,"d":1}],"\uFF5E":2,"\u{1F642}":1}';
    const { Default, Example, Enum } = internalForm(
      read({ default: value, example: value, enum: [value] }),
    ) as JsonObject;
    expect([Default, Example, Enum].map((part) => JSON.stringify(part))).toEqual([printed, printed, `[${printed}]`]);
  });

  test.each([
    ['properties', (inner: JsonObject): JsonObject => ({ properties: { a: inner } })],
    ['items', (inner: JsonObject): JsonObject => ({ items: inner })],
    ['not', (inner: JsonObject): JsonObject => ({ not: inner })],
    ['anyOf', (inner: JsonObject): JsonObject => ({ anyOf: [inner] })],
  ])('must not nest too deep through %s', (_, wrap) => {
    const nested = (depth: number): JsonObject => (depth === 1 ? {} : wrap(nested(depth - 1)));
    expect(read(nested(maxSchemaDepth))).toBeDefined();
    expect(() => read(nested(maxSchemaDepth + 1))).toThrow(SchemaTooDeep);
  });
});

test.each<[JsonObject, string]>([
  [{ $ref: '#/a' }, "OpenAPIV3Schema '$ref' is not supported"],
  [{ $schema: 'a' }, "OpenAPIV3Schema 'schema' is not supported"],
  [{ properties: { a: { not: { id: 'a' } } } }, "OpenAPIV3Schema 'id' is not supported"],
  [{ items: [{}] }, "OpenAPIV3Schema 'items' must be a schema, but is an array"],
])('%j is not structural', (schema, why) => {
  expect(notStructural(read(schema))).toBe(why);
});

test('violations are sorted by text', () => {
  const schema = { type: 'object', properties: { b: {}, a: { type: 'array' } }, not: { type: 'x', title: 'y' } };
  expect(structuralViolations(read(schema), 's', 'x-').map(({ field }) => field)).toEqual([
    's.not.title',
    's.not.type',
    's.properties[a].items',
    's.properties[b].type',
  ]);
});

test('the total size of patterns is limited, with each counted once', () => {
  const pattern = (text: string): JsonObject => ({ type: 'string', pattern: text });
  const schema = (count: number): JsonObject => ({
    type: 'object',
    properties: Object.fromEntries(
      Array.from({ length: count * 2 }, (_, at) => [`p${at}`, pattern(`a{${900 + (at % count)}}`)]),
    ),
  });
  expect(structuralViolations(read(schema(50)), 's', 'x-')).toEqual([]);
  expect(structuralViolations(read(schema(60)), 's', 'x-')).toEqual([
    {
      reason: 'FieldValueForbidden',
      field: 's',
      body: 'Forbidden: patterns must not have more than 50000 instructions together',
    },
  ]);
});
