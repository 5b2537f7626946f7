import { expect, test } from 'vitest';
import type { Json } from '../../../src/api/object.js';
import { atOnce } from '../../../src/api/steps.js';
import { conversionProblem } from '../../../src/apiserver/patch/unstructured.js';
import {
  boolean,
  bytes,
  double,
  field,
  integer32,
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
  items: field(6, list(struct('v1.Item', { name: field(1, string()) }))),
  blob: field(7, bytes()),
  when: field(8, time()),
  phase: field(9, string({ go: 'v1.Phase' })),
});

test.each<[Json, string | undefined]>([
  [{}, undefined],
  [
    { text: null, count: 1, ratio: 1, flag: true, data: { a: null }, items: [{ name: 'x' }], blob: 'AA==', when: 'x' },
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
  [[], 'cannot restore struct from: slice'],
])('%j: %s', (value, problem) => {
  expect(atOnce(conversionProblem(schema, value, 'int'))).toBe(problem);
});

test('where all numbers are floats', () => {
  expect(atOnce(conversionProblem(schema, { count: 5 }, 'float'))).toBeUndefined();
  expect(atOnce(conversionProblem(schema, { data: 5 }, 'float'))).toBe('cannot restore map from float64');
});

test('what is in thousands is looked at in steps, and the first problem is told', () => {
  const items = Array.from({ length: 9_000 }, (_, at) => (at < 8_000 ? { name: 'x' } : at));
  const { pauses, result } = countSteps(conversionProblem(schema, { items }, 'int'));
  expect(pauses).toBeGreaterThan(3);
  expect(result).toBe('cannot restore struct from: int64');
});
