import { expect, test } from 'vitest';
import { BoundedMap } from '../../src/runtime/bounded-map.js';

test('the entry set longest ago is evicted; setting an entry again makes it the latest', () => {
  const evicted: number[] = [];
  const map = new BoundedMap<string, number>(2, (value) => evicted.push(value));
  map.set('a', 1);
  map.set('b', 2);
  map.get('a');
  map.set('c', 3);
  expect([...map.values()]).toEqual([2, 3]);
  map.set('b', 4);
  map.set('d', 5);
  expect(evicted).toEqual([1, 3]);
  expect([map.get('a'), map.get('b'), map.get('c'), map.get('d')]).toEqual([undefined, 4, undefined, 5]);
  map.delete('b');
  map.set('e', 6);
  expect(evicted).toEqual([1, 3]);
});
