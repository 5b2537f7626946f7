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
  ['a scalar', text, 'x', 'x', true],
  ['another scalar', text, 'x', 'y', false],
  ['what was not there', text, 'x', noOldValue, false],
  ['an object, whatever the order of its members', pair, { v: '1', k: 'a' }, a, true],
  ['an object with another value', pair, { ...a, v: '2' }, a, false],
  ['an object that has lost a member', pair, { k: 'a' }, a, false],
  ['an object with one more', pair, a, { k: 'a' }, false],
  ['an object with a member that nobody knows', object({ k: text }), a, a, false],
  ['a map', { type: 'object', additionalProperties: text }, { x: '1' }, { x: '1' }, true],
  ['a keyed list in another order', keyed, [b, a], [a, b], true],
  ['a keyed list that has lost an item', keyed, [a], [a, b], false],
  ['a keyed list with one more', keyed, [a, b], [a], false],
  ['a keyed list with another item', keyed, [a, { ...b, v: '3' }], [a, b], false],
  ['a plain list', plain, [a, b], [a, b], true],
  ['a plain list in another order', plain, [b, a], [a, b], false],
])('whether it is as it was stored: %s', (_, schema, value, old, unchanged) => {
  expect(new Ratchet().unchanged(value, old, schema)).toBe(unchanged);
});

test('what was compared by one schema is compared anew by another', () => {
  const ratchet = new Ratchet();
  const [value, old] = [
    [b, a],
    [a, b],
  ];
  expect(ratchet.unchanged(value, old, keyed)).toBe(true);
  expect(ratchet.unchanged(value, old, plain)).toBe(false);
});
