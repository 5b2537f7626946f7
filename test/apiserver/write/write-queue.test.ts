import { expect, test } from 'vitest';
import { WriteQueue } from '../../../src/apiserver/write/write-queue.js';
import { FakeClock, settled } from '../../../src/testing/fake-clock.js';

const open = () => {
  const clock = new FakeClock();
  const turns = new WriteQueue(clock, new AbortController().signal);
  const seen: string[] = [];
  const done = new Map<string, () => void>();
  /** Returns work that records its start and lasts until it is ended. */
  const work = (name: string) => () => {
    seen.push(name);
    return new Promise<void>((resolve) => done.set(name, resolve));
  };
  return { clock, turns, seen, work, end: (name: string) => done.get(name)?.() };
};

test('writes of one object run in order', async () => {
  const { turns, seen, work, end } = open();
  const all = [turns.run('a', work('first')), turns.run('a', work('second')), turns.run('a', work('third'))];
  expect(seen).toEqual(['first']);
  end('first');
  await settled();
  expect(seen).toEqual(['first', 'second']);
  end('second');
  await settled();
  expect(seen).toEqual(['first', 'second', 'third']);
  end('third');
  await Promise.all(all);
});

test('writes of other objects do not wait', () => {
  const { turns, seen, work } = open();
  void turns.run('a', work('one'));
  void turns.run('b', work('other'));
  expect(seen).toEqual(['one', 'other']);
});

test('a slow write delays others only for a limited time', async () => {
  const { clock, turns, seen, work } = open();
  void turns.run('a', work('hangs'));
  void turns.run('a', work('waits'));
  await clock.advance(499);
  expect(seen).toEqual(['hangs']);
  await clock.advance(1);
  expect(seen).toEqual(['hangs', 'waits']);
});

test('a failed write is reported to its caller, and the next one runs', async () => {
  const { turns, seen, work, end } = open();
  const failed = turns.run('a', () => Promise.reject(new Error('no')));
  const next = turns.run('a', work('next'));
  await expect(failed).rejects.toThrow('no');
  await settled();
  expect(seen).toEqual(['next']);
  end('next');
  await next;
  expect(await turns.run('a', () => Promise.resolve('alone again'))).toBe('alone again');
});
