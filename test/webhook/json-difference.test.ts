import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readJson } from '../../src/api/json-text.js';
import type { Json, JsonObject } from '../../src/api/object.js';
import { runSync } from '../../src/api/steps.js';
import { readReceivedPatch } from '../../src/apiserver/patch/json.js';
import { jsonDifference } from '../../src/webhook/json-difference.js';
import '../properties.js';

test.each<[string, Json, Json, readonly object[]]>([
  ['equal values', { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
  ['a new member', { a: 1 }, { a: 1, b: 2 }, [{ op: 'add', path: '/b', value: 2 }]],
  ['a removed member', { a: 1, b: 2 }, { a: 1 }, [{ op: 'remove', path: '/b' }]],
  ['another value', { a: { b: 1 } }, { a: { b: 2 } }, [{ op: 'replace', path: '/a/b', value: 2 }]],
  ['null for a value', { a: 1 }, { a: null }, [{ op: 'replace', path: '/a', value: null }]],
  ['a value of another type', { a: [1] }, { a: { 0: 1 } }, [{ op: 'replace', path: '/a', value: { 0: 1 } }]],
  [
    'a longer list',
    { a: [1] },
    { a: [1, 2, 3] },
    [
      { op: 'add', path: '/a/-', value: 2 },
      { op: 'add', path: '/a/-', value: 3 },
    ],
  ],
  [
    'a shorter list, from its end',
    { a: [1, 2, 3] },
    { a: [1] },
    [
      { op: 'remove', path: '/a/2' },
      { op: 'remove', path: '/a/1' },
    ],
  ],
  ['names with slashes and tildes', {}, { 'a/b~c': 1 }, [{ op: 'add', path: '/a~1b~0c', value: 1 }]],
  [
    'integers beyond the precision of a double',
    { a: 9007199254740993n },
    { a: 9007199254740992n },
    [{ op: 'replace', path: '/a', value: 9007199254740992n }],
  ],
])('%s', (_, before, after, expected) => {
  expect(jsonDifference(before, after)).toEqual(expected);
});

test('__proto__ is a name like any other', () => {
  const after = JSON.parse('{"__proto__":{"a":1}}') as Json;
  expect(jsonDifference({}, after)).toEqual([{ op: 'add', path: '/__proto__', value: { a: 1 } }]);
  expect(jsonDifference(after, JSON.parse('{"__proto__":{"a":2}}') as Json)).toEqual([
    { op: 'replace', path: '/__proto__/a', value: 2 },
  ]);
});

test('deeply nested values are compared', () => {
  const nested = (value: number): Json => JSON.parse(`${'{"a":'.repeat(3_000)}${value}${'}'.repeat(3_000)}`) as Json;
  expect(jsonDifference(nested(1), nested(2))).toHaveLength(1);
});

/** Objects with few member names, so that any two have some in common. */
const { object } = fc.letrec<{ object: JsonObject; value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Json>(null, true, 0, 1, '', 'x'),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc.dictionary(fc.constantFrom('a', 'b', 'c/d', '~', '0', '-'), tie('value'), { maxKeys: 4 }),
}));

test('applying the difference to the first value gives the second', () => {
  fc.assert(
    fc.property(object, object, (before, after) => {
      const bytes = Buffer.from(JSON.stringify(jsonDifference(before, after)));
      const { result } = runSync(readReceivedPatch(() => ({ ...readJson(bytes), bytes })).apply(before));
      expect(result).toEqual(after);
    }),
    { numRuns: 500 },
  );
});
