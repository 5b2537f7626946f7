import { expect, test } from 'vitest';
import { defaultBackoff, exponentialBackoff, tokenBucket } from '../../src/controller/backoff.js';
import { FakeClock } from '../../src/testing/fake-clock.js';

test("a key's delay doubles with each failure, up to a limit", () => {
  const backoff = exponentialBackoff({ baseMs: 5, capMs: 50 });
  expect([1, 2, 3, 4, 5, 100].map(backoff)).toEqual([5, 10, 20, 40, 50, 50]);
});

test('a burst is allowed at once, and the others one after the other', () => {
  const bucket = tokenBucket({ clock: new FakeClock(), perSecond: 10, burst: 2 });
  expect([bucket.reserve(), bucket.reserve(), bucket.reserve(), bucket.reserve()]).toEqual([0, 0, 100, 200]);
  expect(bucket.tryTake()).toBe(false);
});

test('after any idle time, at most a burst is allowed at once', async () => {
  const clock = new FakeClock();
  const bucket = tokenBucket({ clock, perSecond: 10, burst: 2 });
  await clock.advance(60_000);
  expect([bucket.tryTake(), bucket.tryTake(), bucket.tryTake()]).toEqual([true, true, false]);
  await clock.advance(100);
  expect(bucket.tryTake()).toBe(true);
});

test('the longer delay applies: that of the key or that of the overall rate', () => {
  const backoff = defaultBackoff(new FakeClock(), { baseMs: 150, capMs: 1_000 }, { perSecond: 10, burst: 1 });
  expect([backoff(1), backoff(1), backoff(1)]).toEqual([150, 150, 200]);
});
