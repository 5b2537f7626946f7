import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/object.js';
import { field, list, map, string, struct } from '../../src/schema/builder.js';
import { withoutEmpty } from '../../src/schema/empty-members.js';

const part = struct('v1.Part', {
  names: field(1, list(string()), { presence: 'always' }),
  sizes: field(2, map(string()), { presence: 'always' }),
  notes: field(3, list(string())),
});
const schema = struct('v1.Thing', {
  part: field(1, part),
  parts: field(2, list(part), { presence: 'always' }),
  byName: field(3, map(part)),
  name: field(4, string(), { presence: 'always' }),
});

test.each<[string, JsonObject, JsonObject]>([
  [
    'lists and maps that would always be written',
    { parts: [], part: { names: [], sizes: {} } },
    { parts: null, part: { names: null, sizes: null } },
  ],
  [
    'those inside lists and maps',
    { parts: [{ names: [] }], byName: { a: { sizes: {} } } },
    { parts: [{ names: null }], byName: { a: { sizes: null } } },
  ],
])('empty values are removed: %s', (_, value, expected) => {
  expect(withoutEmpty(schema, value)).toEqual(expected);
});

test('other values are kept', () => {
  const value = { name: '', parts: [{ names: ['a'], notes: [] }, null], byName: {}, other: [], part: null };
  expect(withoutEmpty(schema, value)).toEqual(value);
  expect(withoutEmpty(struct('v1.Plain', { notes: field(1, list(string())) }), value)).toBe(value);
});
