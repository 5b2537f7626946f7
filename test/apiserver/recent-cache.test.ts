import { expect, test } from 'vitest';
import { RecentCache } from '../../src/apiserver/recent-cache.js';

const keys = Array.from({ length: 10 }, (_, at) => ({ at }));
const known = (recent: RecentCache<object, string>): readonly number[] =>
  keys.filter((key) => recent.get(key) !== undefined).map(({ at }) => at);

test('recent entries are kept up to the size limit, older ones are evicted later', () => {
  const recent = new RecentCache<object, string>(30);
  for (const key of keys.slice(0, 3)) recent.set(key, 'v', 10);
  expect(known(recent)).toEqual([0, 1, 2]);
  for (const key of keys.slice(3, 6)) recent.set(key, 'v', 10);
  expect(known(recent)).toEqual([0, 1, 2, 3, 4, 5]);
  for (const key of keys.slice(6, 7)) recent.set(key, 'v', 10);
  expect(known(recent)).toEqual([3, 4, 5, 6]);
});

test('an entry larger than the limit is kept until the next one is added', () => {
  const recent = new RecentCache<object, string>(30);
  for (const key of keys.slice(0, 4)) recent.set(key, 'v', 100);
  expect(known(recent)).toEqual([2, 3]);
});
