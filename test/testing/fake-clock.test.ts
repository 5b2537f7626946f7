import { expect, test } from 'vitest';
import { FakeClock } from '../../src/testing/fake-clock.js';

test.each([-500, Number.NaN, Number.POSITIVE_INFINITY])('time does not go on by %s', async (milliseconds) => {
  const clock = new FakeClock(1_000);
  await expect(clock.advance(milliseconds)).rejects.toThrow(`not by ${milliseconds}`);
  expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0]);
});

test('whose sleep is over wakes, also if no time passes', async () => {
  const clock = new FakeClock(1_000);
  let woken = false;
  const sleep = clock.sleep(0).then(() => (woken = true));
  await clock.advance(0);
  expect(woken).toBe(true);
  await sleep;
});
