import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SortedMap } from '../../src/store/sorted-map.js';

const key = fc.oneof(
  fc.nat({ max: 60 }).map((at) => `k${String(at).padStart(2, '0')}`),
  fc.string({ maxLength: 3 }),
  fc.constant('__proto__'),
);

test('a sorted map contains, counts and iterates what a sorted list of its keys does, for any block size', () => {
  const step = fc.record({ key, deletes: fc.boolean() });
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 200 }),
      fc.integer({ min: 2, max: 9 }),
      fc.array(fc.tuple(key, fc.option(key, { nil: undefined }), fc.nat({ max: 9 })), { maxLength: 5 }),
      (steps, maxLength, ranges) => {
        const map = new SortedMap<number>(maxLength);
        const model = new Map<string, number>();
        for (const [at, { key, deletes }] of steps.entries()) {
          if (deletes) expect(map.delete(key)).toBe(model.delete(key));
          else {
            map.set(key, at);
            model.set(key, at);
          }
          expect(map.get(key)).toBe(model.get(key));
          expect(map.size).toBe(model.size);
        }
        const sorted = [...model].sort(([a], [b]) => (a < b ? -1 : 1));
        for (const [low, high, limit] of [['', undefined, 1_000] as const, ...ranges]) {
          const expected = sorted.filter(([key]) => key >= low && (high === undefined || key < high));
          expect(map.count({ low, high })).toBe(expected.length);
          const found: [string, number][] = [];
          const stopped = map.each({ low, high }, (key, value) => found.push([key, value]) > limit);
          expect(found).toEqual(expected.slice(0, limit + 1));
          expect(stopped).toBe(expected[limit]?.[0]);
        }
      },
    ),
  );
});

test('a sorted map handles many keys in order, in reverse and deleted again', () => {
  const keys = Array.from({ length: 5_000 }, (_, at) => `k${String(at).padStart(4, '0')}`);
  for (const order of [keys, keys.toReversed()]) {
    const map = new SortedMap<string>(16);
    for (const key of order) map.set(key, key);
    expect(map.count({ low: 'k1000', high: 'k2000' })).toBe(1_000);
    for (const key of order) if (!key.endsWith('00')) map.delete(key);
    const left: string[] = [];
    map.each({ low: '' }, (key) => left.push(key) < 0);
    expect(left).toEqual(keys.filter((key) => key.endsWith('00')));
    for (const key of order) map.delete(key);
    expect([map.size, map.count({ low: '' })]).toEqual([0, 0]);
  }
});
