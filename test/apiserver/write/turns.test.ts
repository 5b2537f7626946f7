import { expect, test } from 'vitest';
import { WriteTurns } from '../../../src/apiserver/write/turns.js';
import { FakeClock, settled } from '../../../src/testing/fake-clock.js';

const open = () => {
  const clock = new FakeClock();
  const turns = new WriteTurns(clock, new AbortController().signal);
  const seen: string[] = [];
  const done = new Map<string, () => void>();
  /** Work that says when it begins and lasts until it is told to end. */
  const work = (name: string) => () => {
    seen.push(name);
    return new Promise<void>((resolve) => done.set(name, resolve));
  };
  return { clock, turns, seen, work, end: (name: string) => done.get(name)?.() };
};

test('who writes one object does so after those who came before', async () => {
  const { turns, seen, work, end } = open();
  const all = [turns.take('a', work('first')), turns.take('a', work('second')), turns.take('a', work('third'))];
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

test('other objects are none of their business', () => {
  const { turns, seen, work } = open();
  void turns.take('a', work('one'));
  void turns.take('b', work('other'));
  expect(seen).toEqual(['one', 'other']);
});

test('a write that takes long is waited for only so long', async () => {
  const { clock, turns, seen, work } = open();
  void turns.take('a', work('hangs'));
  void turns.take('a', work('waits'));
  await clock.advance(499);
  expect(seen).toEqual(['hangs']);
  await clock.advance(1);
  expect(seen).toEqual(['hangs', 'waits']);
});

test('what fails lets the next one come, and is told to its own caller', async () => {
  const { turns, seen, work, end } = open();
  const failed = turns.take('a', () => Promise.reject(new Error('no')));
  const next = turns.take('a', work('next'));
  await expect(failed).rejects.toThrow('no');
  await settled();
  expect(seen).toEqual(['next']);
  end('next');
  await next;
  expect(await turns.take('a', () => Promise.resolve('alone again'))).toBe('alone again');
});
