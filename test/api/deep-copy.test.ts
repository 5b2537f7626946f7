import { expect, test } from 'vitest';
import { deepCopy, deepCopyInSteps } from '../../src/api/deep-copy.js';
import type { Json } from '../../src/api/object.js';
import { runSync } from '../../src/api/steps.js';

const many = Array.from({ length: 5_000 }, (_, at) => at);
const values: readonly Json[] = [
  null,
  2n ** 60n,
  [],
  { a: { b: [{ c: 'd' }, 1, true] } },
  JSON.parse('{"__proto__":{"x":1},"a":{"__proto__":2}}') as Json,
  { list: many, members: Object.fromEntries(many.map((at) => [`k${at}`, { at: [at] }])) },
];

test.each(values)('a copy equals the original and shares nothing with it', (value) => {
  for (const copy of [deepCopy(value), runSync(deepCopyInSteps(value))]) {
    expect(copy).toEqual(value);
    expect(JSON.stringify(copy, noBigint)).toBe(JSON.stringify(value, noBigint));
    expect(shared(copy, value)).toBe(false);
  }
});

const noBigint = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

const shared = (a: unknown, b: unknown): boolean =>
  typeof a === 'object' &&
  a !== null &&
  (a === b ||
    Object.keys(a).some((name) => shared((a as Record<string, unknown>)[name], (b as Record<string, unknown>)[name])));

test('a large value is copied in steps', () => {
  expect([...deepCopyInSteps(many)].length).toBeGreaterThan(1);
});
