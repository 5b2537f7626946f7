import { expect, test } from 'vitest';
import { noOldValue, Ratchet } from '../../src/schema/ratchet.js';
import type { Schema } from '../../src/schema/schema.js';
import { object } from './object-schema.js';

const text: Schema = { type: 'string' };
const pair = object({ k: text, v: text });
const keyed: Schema = { type: 'array', listType: 'map', listMapKeys: ['k'], items: pair };
const plain: Schema = { type: 'array', items: pair };
const [a, b] = [
  { k: 'a', v: '1' },
  { k: 'b', v: '2' },
];

test.each<[string, Schema, unknown, unknown, boolean]>([
  ['an equal scalar', text, 'x', 'x', true],
  ['a different scalar', text, 'x', 'y', false],
  ['without an old value', text, 'x', noOldValue, false],
  ['an object with another order of members', pair, { v: '1', k: 'a' }, a, true],
  ['an object with another value', pair, { ...a, v: '2' }, a, false],
  ['an object without a former member', pair, { k: 'a' }, a, false],
  ['an object with an additional member', pair, a, { k: 'a' }, false],
  ['an object with an unknown member', object({ k: text }), a, a, false],
  ['an equal map', { type: 'object', additionalProperties: text }, { x: '1' }, { x: '1' }, true],
  ['a keyed list in another order', keyed, [b, a], [a, b], true],
  ['a keyed list without a former item', keyed, [a], [a, b], false],
  ['a keyed list with an additional item', keyed, [a, b], [a], false],
  ['a keyed list with a changed item', keyed, [a, { ...b, v: '3' }], [a, b], false],
  ['an equal plain list', plain, [a, b], [a, b], true],
  ['a plain list in another order', plain, [b, a], [a, b], false],
])('unchanged or not: %s', (_, schema, value, old, unchanged) => {
  expect(new Ratchet().unchanged(value, old, schema)).toBe(unchanged);
});

test('a comparison by another schema is made again', () => {
  const ratchet = new Ratchet();
  const [value, old] = [
    [b, a],
    [a, b],
  ];
  expect(ratchet.unchanged(value, old, keyed)).toBe(true);
  expect(ratchet.unchanged(value, old, plain)).toBe(false);
});
