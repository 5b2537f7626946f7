import { expect, test, vi } from 'vitest';
import { memoized } from '../../src/pki/memoized.js';

const reading = () => {
  const read = vi.fn((bytes: Buffer) => ({ bytes }));
  return { read, again: memoized(read) };
};

test('the same bytes are parsed once, other bytes separately', () => {
  const { read, again } = reading();
  expect(again(Buffer.from('a'))).toBe(again(Buffer.from('a')));
  expect(again(Buffer.from('b'))).not.toBe(again(Buffer.from('a')));
  expect(read).toHaveBeenCalledTimes(2);
});

test('a caller that changes its bytes does not change the cache', () => {
  const { again } = reading();
  const mine = Buffer.from('a');
  again(mine);
  mine.write('b');
  expect(again(Buffer.from('a')).bytes.toString()).toBe('a');
});

test('failures are not cached', () => {
  const read = vi.fn((): object => {
    throw new Error('no');
  });
  const again = memoized(read);
  expect(() => again(Buffer.from('a'))).toThrow('no');
  expect(() => again(Buffer.from('a'))).toThrow('no');
  expect(read).toHaveBeenCalledTimes(2);
});

test('only the latest and short inputs are cached', () => {
  const { read, again } = reading();
  const first = Buffer.from('first');
  again(first);
  for (let at = 0; at < 300; at++) again(Buffer.from(String(at)));
  again(first);
  expect(read).toHaveBeenCalledTimes(302);
  const long = Buffer.alloc(10_000);
  again(long);
  again(long);
  expect(read).toHaveBeenCalledTimes(304);
});
