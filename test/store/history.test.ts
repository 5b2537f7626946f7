import { expect, test } from 'vitest';
import { StoredEntry } from '../../src/store/document.js';
import { History, type WrittenChange } from '../../src/store/history.js';

const put = (revision: bigint, size = 10, previous?: WrittenChange): WrittenChange => ({
  type: 'put',
  entry: new StoredEntry('/a', revision, Buffer.alloc(size), -1),
  previous: previous?.entry,
});

test('the history keeps a fixed number of changes, however many are added', () => {
  const history = new History(0n, { historyLimit: 100 });
  for (let revision = 1n; revision <= 10_000n; revision++) history.append(put(revision), 0);
  expect([history.oldest, history.newest, history.end - history.begin]).toEqual([9_900n, 10_000n, 100]);
  expect(history.at(history.begin)?.entry.revision).toBe(9_901n);
  expect(history.at(history.begin - 1)).toBeUndefined();
  expect(history.at(history.end)).toBeUndefined();
});

test('the history keeps changes for a fixed time, and returns those it drops', () => {
  const history = new History(0n, { historyMs: 1_000 });
  expect(history.append(put(1n), 5_000)).toEqual([]);
  expect(history.append(put(2n), 5_500)).toEqual([]);
  expect(history.append(put(3n), 6_000)).toEqual([]);
  expect(history.append(put(4n), 6_001).map(({ entry }) => entry.revision)).toEqual([1n]);
  expect(history.oldest).toBe(1n);
});

test('the history keeps at most a fixed number of bytes of replaced values', () => {
  const history = new History(0n, { historyBytes: 50_000 });
  let last: WrittenChange | undefined;
  for (let revision = 1n; revision <= 200n; revision++) {
    last = put(revision, 1_000, last);
    history.append(last, 0);
  }
  expect(history.end - history.begin).toBeLessThan(50);
  expect(history.end - history.begin).toBeGreaterThan(30);
});

test('one addition drops at most a few hundred, so no writer pays for a long idle time', () => {
  const history = new History(0n, { historyMs: 1_000 });
  for (let revision = 1n; revision <= 5_000n; revision++) history.append(put(revision), 0);
  expect(history.append(put(5_001n), 10_000).length).toBeLessThan(500);
});

test('the position after any revision is found, also where there are gaps', () => {
  const history = new History(10n);
  for (const revision of [12n, 15n, 16n, 20n]) history.append(put(revision), 0);
  const found = (revision: bigint) => history.at(history.positionAfter(revision))?.entry.revision;
  expect([10n, 11n, 12n, 14n, 15n, 16n, 19n, 20n, 99n].map(found)).toEqual([
    12n,
    12n,
    15n,
    15n,
    16n,
    20n,
    20n,
    undefined,
    undefined,
  ]);
  history.compact(15n);
  expect(found(15n)).toBe(16n);
  expect(history.oldest).toBe(15n);
});

test('compaction to a future revision forgets only known changes', () => {
  const history = new History(0n);
  history.append(put(1n), 0);
  history.compact(50n);
  expect([history.oldest, history.newest]).toEqual([1n, 1n]);
  history.restart(50n);
  expect([history.oldest, history.newest]).toEqual([50n, 50n]);
});
