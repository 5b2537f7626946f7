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

test('events are read in a later turn than they arrive in, and in order', async () => {
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

test('an event that arrives right after the last was read is not lost', async () => {
  const { reader, read } = reading();
  reader.push(() => {
    read.push('first');
    queueMicrotask(() => reader.push(() => void read.push('second')));
  });
  await untilRead(read, 2);
  expect(read).toEqual(['first', 'second']);
});

test('an event that arrives while another is read follows those waiting', async () => {
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
  ['a few small events do not', 255, false, false],
  ['many small events do', 256, false, true],
  ['a large event does', 1, true, true],
])('whether waiting events hold up the watch: %s', async (_, count, isLarge, waits) => {
  const { pace, reader } = reading();
  for (let at = 0; at < count; at++) reader.push(() => undefined, isLarge);
  const wait = pace.wait();
  expect(wait !== undefined).toBe(waits);
  await (wait ?? nextTurn());
  expect(pace.wait()).toBe(undefined);
});

test('an event that cannot be read is reported, and events waiting behind it are dropped', async () => {
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
