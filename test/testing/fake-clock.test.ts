import { expect, test } from 'vitest';
import { FakeClock } from '../../src/testing/fake-clock.js';

test.each([-500, Number.NaN, Number.POSITIVE_INFINITY])(
  'the clock refuses to advance or jump by %s',
  async (milliseconds) => {
    const clock = new FakeClock(1_000);
    await expect(clock.advance(milliseconds)).rejects.toThrow(`not by ${milliseconds}`);
    await expect(clock.jump(milliseconds)).rejects.toThrow(`not by ${milliseconds}`);
    expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0]);
  },
);

test('a sleep of zero ends on an advance by zero', async () => {
  const clock = new FakeClock(1_000);
  let woken = false;
  const sleep = clock.sleep(0).then(() => (woken = true));
  await clock.advance(0);
  expect(woken).toBe(true);
  await sleep;
});

test('sleepers due during a jump wake once, in order, and sleep on from the new time', async () => {
  const clock = new FakeClock(0);
  const woken: string[] = [];
  const everySoOften = async (name: string, milliseconds: number): Promise<void> => {
    for (;;) {
      await clock.sleep(milliseconds);
      woken.push(`${name} ${clock.now()}`);
    }
  };
  void everySoOften('minute', 60_000);
  void everySoOften('second', 1_000);
  void everySoOften('year', 365 * 86_400_000);
  await clock.jump(86_400_000);
  expect(woken).toEqual(['second 86400000', 'minute 86400000']);
  await clock.advance(1_000);
  expect(woken.at(-1)).toBe('second 86401000');
  expect(clock.sleeping).toBe(3);
});
