import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Backpressure } from '../../src/apiserver/backpressure.js';
import { EventQueue } from '../../src/apiserver/event-queue.js';

interface Reading {
  readonly pace: Backpressure;
  readonly reader: EventQueue;
  readonly read: string[];
  readonly errors: unknown[];
}

function reading(): Reading {
  const pace = new Backpressure();
  const errors: unknown[] = [];
  return { pace, reader: new EventQueue(pace, (error) => errors.push(error)), read: [], errors };
}

/** Waits until this many events have been read. On a busy machine a turn may be over before all of them have. */
async function untilRead(read: readonly string[], count: number): Promise<void> {
  while (read.length < count) await nextTurn();
}

test('nothing is read in the turn in which it is taken, and all of it in its order', async () => {
  const { reader, read } = reading();
  reader.push(function* () {
    yield;
    read.push('in steps');
  });
  reader.push(() => void read.push('at once'));
  await Promise.resolve();
  expect(read).toEqual([]);
  await untilRead(read, 2);
  expect(read).toEqual(['in steps', 'at once']);
});

test('what comes right behind the last is not lost', async () => {
  const { reader, read } = reading();
  reader.push(() => {
    read.push('first');
    queueMicrotask(() => reader.push(() => void read.push('second')));
  });
  await untilRead(read, 2);
  expect(read).toEqual(['first', 'second']);
});

test('what comes while something is read follows it', async () => {
  const { reader, read } = reading();
  reader.push(() => {
    read.push('first');
    reader.push(() => void read.push('last'));
  });
  reader.push(() => void read.push('second'));
  await untilRead(read, 3);
  expect(read).toEqual(['first', 'second', 'last']);
});

test.each([
  ['a few small ones', 255, false, false],
  ['many small ones', 256, false, true],
  ['a large one', 1, true, true],
])('does the watch wait for %s?', async (_, count, isLarge, waits) => {
  const { pace, reader } = reading();
  for (let at = 0; at < count; at++) reader.push(() => undefined, isLarge);
  const wait = pace.wait();
  expect(wait !== undefined).toBe(waits);
  await (wait ?? nextTurn());
  expect(pace.wait()).toBe(undefined);
});

test('one that cannot be read is told of, and what waits behind it is dropped', async () => {
  const { reader, read, errors, pace } = reading();
  const fault = new Error('unreadable');
  reader.push(() => {
    throw fault;
  }, true);
  reader.push(() => void read.push('behind'));
  await pace.wait();
  expect(errors).toEqual([fault]);
  expect(read).toEqual([]);
  reader.push(() => void read.push('later'));
  await nextTurn();
  expect(read).toEqual(['later']);
});
