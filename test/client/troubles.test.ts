import { expect, test } from 'vitest';
import { serviceUnavailable } from '../../src/api/errors.js';
import { fromElsewhere, Troubles } from '../../src/client/troubles.js';

test('each kind of trouble is told once, and every ten minutes that it lasts', () => {
  const troubles = new Troubles();
  expect(troubles.isNews(serviceUnavailable('at 1'), 0)).toBe(true);
  expect(troubles.isNews(serviceUnavailable('at 2'), 1)).toBe(false);
  expect(troubles.isNews(new Error('other'), 2)).toBe(true);
  expect(troubles.isNews(new Error('other'), 600_001)).toBe(false);
  expect(troubles.isNews(new Error('other'), 600_002)).toBe(true);
  expect(troubles.over()).toBe(true);
  expect(troubles.over()).toBe(false);
  expect(troubles.isNews(new Error('other'), 600_003)).toBe(true);
});

test('what is expected is told where it lasts', () => {
  const troubles = new Troubles();
  troubles.began(1_000);
  expect(troubles.isNews(new Error('expected'), 600_999, { isKnown: true })).toBe(false);
  expect(troubles.isNews(new Error('expected'), 601_000, { isKnown: true })).toBe(true);
});

test('trouble of ever new kinds is told of no more after twenty', () => {
  const troubles = new Troubles();
  const told = Array.from({ length: 100 }, (_, at) => troubles.isNews(new Error(`kind ${at}`), at));
  expect(told.filter((one) => one).length).toBe(20);
  expect(told.lastIndexOf(true)).toBe(19);
});

test('what happened elsewhere is told with what it came of, and not with where that was noticed', () => {
  const cause = new Error('refused');
  const error = Object.assign(new Error('no answer', { cause }), { code: 503 });
  const told = fromElsewhere(error) as Error;
  expect(told).toMatchObject({ message: 'no answer', code: 503, stack: undefined });
  expect(told.cause).toMatchObject({ message: 'refused', stack: undefined });
  expect(fromElsewhere('text')).toBe('text');
});
