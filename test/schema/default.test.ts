import { expect, test } from 'vitest';
import type { Json } from '../../src/api/object.js';
import { field, optional, string, struct } from '../../src/schema/builder.js';
import { applyDefaults, dropNulls } from '../../src/schema/default.js';
import type { Schema } from '../../src/schema/schema.js';
import { object } from './object-schema.js';

const a: Schema = { type: 'string', default: 'A' };
const nullable: Schema = { ...a, nullable: true };

test.each<[string, Schema, Json, Json]>([
  ['absent members get their default', object({ a }), {}, { a: 'A' }],
  ['empty members do not', object({ a }), { a: '' }, { a: '' }],
  ['null counts as absent where not allowed', object({ a }), { a: null }, { a: 'A' }],
  ['null stays where allowed', object({ a: nullable }), { a: null }, { a: null }],
  ['parents are not created', object({ o: object({ a }) }), {}, {}],
  ['a default gets the defaults of its members', object({ o: object({ a }, { default: {} }) }), {}, { o: { a: 'A' } }],
  ['items', { items: object({ a }) }, [{}, 1], [{ a: 'A' }, 1]],
  ['null items', { items: a }, [null], ['A']],
  ['map values', { additionalProperties: object({ a }) }, { x: {} }, { x: { a: 'A' } }],
  ['null map values', { additionalProperties: a }, { x: null }, { x: 'A' }],
  ['no zero value that would be omitted again', struct('v1.A', { a: field(1, string(), { default: '' }) }), {}, {}],
  ['a zero value that is kept', object({ a: { type: 'string', default: '' } }), {}, { a: '' }],
  ['a zero value behind a pointer', struct('v1.A', { a: optional(1, string(), { default: '' }) }), {}, { a: '' }],
  ['none from allOf and the like', { allOf: [object({ a })] }, {}, {}],
])('defaults: %s', (_, schema, value, expected) => {
  const before = structuredClone(value);
  expect(applyDefaults(value, schema)).toEqual(expected);
  expect(value).toEqual(before);
});

test.each<[string, Schema, Json, Json]>([
  ['where not allowed', object({ s: { type: 'string' } }), { s: null, t: null }, { t: null }],
  ['not where allowed or with a default', object({ a, n: nullable }), { a: null, n: null }, { a: null, n: null }],
  ['not in lists', { items: { type: 'string' } }, [null], [null]],
  ['in map values', { additionalProperties: { type: 'string' } }, { x: null }, {}],
])('nulls are dropped %s', (_, schema, value, expected) => {
  expect(dropNulls(value, schema)).toEqual(expected);
});

test('defaults beyond the limit are left out', () => {
  const list = object({ list: { items: object({ a, b: { default: [1, 2, 3] } }) } });
  const room = { left: 7 };
  expect(applyDefaults({ list: [{}, {}, {}] }, list, room)).toEqual({
    list: [{ a: 'A', b: [1, 2, 3] }, { a: 'A' }, {}],
  });
  expect(room.left).toBeLessThan(0);
});

test('a value without missing members is returned as it is', () => {
  const value = { a: 'x', o: [{}] };
  expect(applyDefaults(value, object({ a }))).toBe(value);
  expect(dropNulls(value, object({ a }))).toBe(value);
});
