import { expect, test } from 'vitest';
import type { Json } from '../../../src/api/object.js';
import { runSync } from '../../../src/api/steps.js';
import { convertUnstructured } from '../../../src/apiserver/patch/unstructured.js';
import {
  boolean,
  bytes,
  double,
  field,
  integer32,
  integer64,
  list,
  map,
  string,
  struct,
  time,
} from '../../../src/schema/builder.js';
import { countSteps } from '../../count-steps.js';

const schema = struct('v1.Thing', {
  text: field(1, string()),
  count: field(2, integer32()),
  ratio: field(3, double()),
  flag: field(4, boolean()),
  data: field(5, map(string())),
  items: field(6, list(struct('v1.Item', { name: field(1, string()), size: field(2, integer32()) }))),
  blob: field(7, bytes()),
  when: field(8, time()),
  phase: field(9, string({ go: 'v1.Phase' })),
  long: field(10, integer64()),
  sizes: field(11, map(integer32())),
  nested: field(12, { oneOf: [struct('v1.Inner', { of: field(1, string()), name: field(2, string()) }), boolean()] }),
  last: field(13, string()),
});

test.each<[Json, string | undefined]>([
  [{}, undefined],
  [
    {
      text: null,
      count: 1,
      ratio: 1,
      flag: true,
      data: { a: null },
      items: [{ name: 'x' }],
      blob: 'AA==',
      when: '2026-01-01T00:00:00Z',
    },
    undefined,
  ],
  [{ count: 1.5 }, 'cannot convert float64 to int32'],
  [{ count: 'x' }, 'unrecognized type: int32'],
  [{ text: 1 }, 'cannot convert int64 to string'],
  [{ phase: 1 }, 'cannot convert int64 to v1.Phase'],
  [{ text: 1.5 }, 'unrecognized type: string'],
  [{ text: {} }, 'unrecognized type: string'],
  [{ flag: 'true' }, 'unrecognized type: bool'],
  [{ ratio: 'x' }, 'unrecognized type: float64'],
  [{ data: 'x' }, 'cannot restore map from string'],
  [{ data: ['x'] }, 'cannot restore map from slice'],
  [{ items: {} }, 'cannot restore slice from map'],
  [{ items: ['x'] }, 'cannot restore struct from: string'],
  [{ blob: 1 }, 'cannot restore slice from int64'],
  [{ blob: ['x'] }, 'unrecognized type: uint8'],
  [{ blob: [1.5] }, 'cannot convert float64 to uint8'],
  [[], 'cannot restore struct from: slice'],
  // A field with its own decoder, between others.
  [{ blob: '*', phase: {} }, 'error decoding from json: illegal base64 data at input byte 0'],
  [{ blob: '*', flag: 'x' }, 'unrecognized type: bool'],
  [{ when: 5, long: 'x' }, 'json: cannot unmarshal number into Go value of type string'],
  [
    { nested: { of: {}, name: {} }, last: 5 },
    'json: cannot unmarshal object into Go struct field Inner.name of type string',
  ],
  [
    { nested: { of: {}, name: 'x' }, last: 5 },
    'json: cannot unmarshal object into Go struct field Inner.of of type string',
  ],
])('conversion of %j reports: %s', (value, problem) => {
  expect(runSync(convertUnstructured(schema, value, 'int')).problem).toBe(problem);
});

test.each<[Json, Json]>([
  [
    { count: 2 ** 31 - 1, long: 2 ** 40 },
    { count: 2 ** 31 - 1, long: 2 ** 40 },
  ],
  [{ count: 2 ** 32 + 3 }, { count: 3 }],
  [{ count: 3_000_000_000 }, { count: -1_294_967_296 }],
  [{ count: -(2 ** 31) - 1 }, { count: 2 ** 31 - 1 }],
  [{ count: 9_223_372_036_854_775_807n }, { count: -1 }],
  [{ count: 1e20 }, { count: 0 }],
  [{ long: 1e20 }, { long: -(2n ** 63n) }],
  [{ long: 2n ** 63n - 1n }, { long: 2n ** 63n - 1n }],
  [{ blob: [1, 300, null] }, { blob: [1, 44, null] }],
  [
    { text: 'x', items: [{ size: 2 ** 32 }, null], sizes: { a: 2 ** 32 + 1, b: null }, unknown: 2 ** 40 },
    { text: 'x', items: [{ size: 0 }, null], sizes: { a: 1, b: null }, unknown: 2 ** 40 },
  ],
])('numbers too large for their field keep their lower bits: %o', (value, left) => {
  expect(runSync(convertUnstructured(schema, value, 'int'))).toEqual({ value: left });
});

test('whole numbers are accepted where all numbers are floats', () => {
  expect(runSync(convertUnstructured(schema, { count: 5 }, 'float')).problem).toBeUndefined();
  expect(runSync(convertUnstructured(schema, { data: 5 }, 'float')).problem).toBe('cannot restore map from float64');
});

test('thousands of items are checked in steps, and the first problem is reported', () => {
  const items = Array.from({ length: 9_000 }, (_, at) => (at < 8_000 ? { name: 'x' } : at));
  const { pauses, result } = countSteps(convertUnstructured(schema, { items }, 'int'));
  expect(pauses).toBeGreaterThan(3);
  expect(result.problem).toBe('cannot restore struct from: int64');
});
