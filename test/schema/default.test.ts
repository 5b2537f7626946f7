import { expect, test } from 'vitest';
import type { Json } from '../../src/api/object.js';
import { field, optional, string, struct } from '../../src/schema/builder.js';
import { applyDefaults, dropNulls } from '../../src/schema/default.js';
import type { Schema } from '../../src/schema/schema.js';
import { object } from './object-schema.js';

const a: Schema = { type: 'string', default: 'A' };
const nullable: Schema = { ...a, nullable: true };

test.each<[string, Schema, Json, Json]>([
  ['absent members get theirs', object({ a }), {}, { a: 'A' }],
  ['empty ones are there', object({ a }), { a: '' }, { a: '' }],
  ['null where it means nothing is absent', object({ a }), { a: null }, { a: 'A' }],
  ['null where it is a value stays', object({ a: nullable }), { a: null }, { a: null }],
  ['parents are never made up', object({ o: object({ a }) }), {}, {}],
  ['a default is filled in itself', object({ o: object({ a }, { default: {} }) }), {}, { o: { a: 'A' } }],
  ['items', { items: object({ a }) }, [{}, 1], [{ a: 'A' }, 1]],
  ['null items', { items: a }, [null], ['A']],
  ['map values', { additionalProperties: object({ a }) }, { x: {} }, { x: { a: 'A' } }],
  ['null map values', { additionalProperties: a }, { x: null }, { x: 'A' }],
  ['no zero value that is left out again', struct('v1.A', { a: field(1, string(), { default: '' }) }), {}, {}],
  ['a zero value that stays', object({ a: { type: 'string', default: '' } }), {}, { a: '' }],
  ['a zero value behind a pointer', struct('v1.A', { a: optional(1, string(), { default: '' }) }), {}, { a: '' }],
  ['not what a junctor says', { allOf: [object({ a })] }, {}, {}],
])('defaults: %s', (_, schema, value, expected) => {
  const before = structuredClone(value);
  expect(applyDefaults(value, schema)).toEqual(expected);
  expect(value).toEqual(before);
});

test.each<[string, Schema, Json, Json]>([
  ['where it means nothing', object({ s: { type: 'string' } }), { s: null, t: null }, { t: null }],
  ['not where it is a value or has a default', object({ a, n: nullable }), { a: null, n: null }, { a: null, n: null }],
  ['not in lists', { items: { type: 'string' } }, [null], [null]],
  ['in map values', { additionalProperties: { type: 'string' } }, { x: null }, {}],
])('nulls are dropped %s', (_, schema, value, expected) => {
  expect(dropNulls(value, schema)).toEqual(expected);
});

test('what finds no room stays absent', () => {
  const list = object({ list: { items: object({ a, b: { default: [1, 2, 3] } }) } });
  const room = { left: 7 };
  expect(applyDefaults({ list: [{}, {}, {}] }, list, room)).toEqual({
    list: [{ a: 'A', b: [1, 2, 3] }, { a: 'A' }, {}],
  });
  expect(room.left).toBeLessThan(0);
});

test('what lacks nothing is the same value', () => {
  const value = { a: 'x', o: [{}] };
  expect(applyDefaults(value, object({ a }))).toBe(value);
  expect(dropNulls(value, object({ a }))).toBe(value);
});
