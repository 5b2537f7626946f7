import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/object.js';
import { prune } from '../../src/schema/prune.js';
import type { Schema } from '../../src/schema/schema.js';
import { object } from './object-schema.js';

const text: Schema = { type: 'string' };
const keep = { preserveUnknownFields: true };

test.each<[string, Schema, JsonObject, JsonObject, readonly string[]]>([
  ['unknown members are removed', object({ a: text }), { a: 1, b: 2 }, { a: 1 }, ['b']],
  [
    'also in items and map values',
    object({ l: { items: object({ a: text }) }, m: { additionalProperties: object({}) } }),
    { l: [{ b: 1 }], m: { x: { y: 1 } } },
    { l: [{}], m: { x: {} } },
    ['l[0].b', 'm.x.y'],
  ],
  [
    'a resource keeps its type and metadata',
    object({}),
    { kind: 'A', metadata: { x: 1 }, spec: 1 },
    { kind: 'A', metadata: { x: 1 } },
    ['spec'],
  ],
  [
    'an embedded resource, too',
    object({ e: object({}, { embeddedResource: true }) }),
    { e: { kind: 'A', x: 1 } },
    { e: { kind: 'A' } },
    ['e.x'],
  ],
  [
    'a node that preserves unknown fields keeps those',
    object({ p: object({ o: object({ a: text }) }, keep) }),
    { p: { x: { y: 1 }, o: { b: 1 } } },
    { p: { x: { y: 1 }, o: {} } },
    ['p.o.b'],
  ],
  [
    'also through lists',
    object({ p: { ...keep, items: object({ o: object({}) }) } }),
    { p: [{ x: 1, o: { b: 1 } }] },
    { p: [{ x: 1, o: {} }] },
    ['p[0].o.b'],
  ],
  ['anyOf and the like specify no members', object({}, { anyOf: [object({ a: text })] }), { a: 1 }, {}, ['a']],
  [
    'values under additionalProperties: true lose their members',
    object({}, { additionalProperties: true }),
    { m: { a: 1 } },
    { m: {} },
    ['m.a'],
  ],
  ['lists without a schema keep scalars', object({ a: text }), { a: [[1, { b: 2 }]] }, { a: [[1, {}]] }, ['a[0][1].b']],
])('%s', (_, schema, value, expected, unknownFields) => {
  const before = structuredClone(value);
  expect(prune(value, schema, { resource: true })).toEqual({ value: expected, unknownFields });
  expect(value).toEqual(before);
});

test('a value without unknown members is returned as it is', () => {
  const value = { a: 'x', l: [{ a: 1 }] };
  const schema = object({ a: text, l: { items: object({ a: text }) } });
  expect(prune(value, schema).value).toBe(value);
});
