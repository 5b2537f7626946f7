import { describe, expect, test } from 'vitest';
import { StoredEntry } from '../../src/store/document.js';
import { type Change, HistoryCompacted, SubscriberTooSlow } from '../../src/store/store.js';
import { type ChangeSource, changeBatches } from '../../src/testing/change-batches.js';

/** A stream controlled by the test. */
function source() {
  const observers = new Set<Parameters<ChangeSource['subscribe']>[0]>();
  return {
    subscribe(observer: Parameters<ChangeSource['subscribe']>[0]) {
      observers.add(observer);
      return { unsubscribe: () => void observers.delete(observer) };
    },
    next: (change: Change) => observers.forEach((observer) => void observer.next(change)),
    error: (error: unknown) => observers.forEach((observer) => void observer.error(error)),
    complete: () => observers.forEach((observer) => void observer.complete()),
    get observed() {
      return observers.size > 0;
    },
  };
}

const put = (revision: bigint): Change => ({
  type: 'put',
  entry: new StoredEntry('/a', revision, Buffer.from('1'), -1),
  previous: undefined,
});
const progress = (revision: bigint): Change => ({ type: 'progress', revision });
const done = { done: true, value: undefined };

describe('a reader of batches', () => {
  test('gets everything that arrived since, in order, and waits for more', async () => {
    const stream = source();
    const batches = changeBatches(stream);
    for (const revision of [1n, 2n, 3n]) stream.next(put(revision));
    expect(await batches.next()).toEqual({ done: false, value: [put(1n), put(2n), put(3n)] });
    const waiting = batches.next();
    stream.next(put(4n));
    expect(await waiting).toEqual({ done: false, value: [put(4n)] });
  });

  test('gets only the last of consecutive progress marks', async () => {
    const stream = source();
    const batches = changeBatches(stream);
    for (const change of [progress(1n), progress(2n), put(3n), progress(4n), progress(5n)]) stream.next(change);
    expect(await batches.next()).toEqual({ done: false, value: [progress(2n), put(3n), progress(5n)] });
  });

  test('gets the end or the error after the changes before it', async () => {
    const completed = source();
    const batches = changeBatches(completed);
    completed.next(put(1n));
    completed.complete();
    expect(await batches.next()).toEqual({ done: false, value: [put(1n)] });
    expect(await batches.next()).toEqual(done);

    const failed = source();
    const failing = changeBatches(failed);
    failed.next(put(1n));
    failed.error(new HistoryCompacted(1n, 2n));
    expect(await failing.next()).toEqual({ done: false, value: [put(1n)] });
    await expect(failing.next()).rejects.toThrow(HistoryCompacted);
    expect(await failing.next()).toEqual(done);
  });

  test('is cut off when too many changes wait, and unsubscribes', async () => {
    const stream = source();
    const batches = changeBatches(stream, 2);
    stream.next(put(1n));
    stream.next(put(2n));
    expect(stream.observed).toBe(true);
    stream.next(put(3n));
    expect(stream.observed).toBe(false);
    await expect(batches.next()).rejects.toThrow(SubscriberTooSlow);
    expect(await batches.next()).toEqual(done);
  });

  test('unsubscribes and ends a pending read when it returns', async () => {
    const stream = source();
    const batches = changeBatches(stream);
    const waiting = batches.next();
    await batches.return?.();
    expect(await waiting).toEqual(done);
    expect(stream.observed).toBe(false);
  });
});
