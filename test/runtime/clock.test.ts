import { expect, test, vi } from 'vitest';
import { shutdownClock, systemClock } from '../../src/runtime/clock.js';
import { FakeClock, settled } from '../../src/testing/fake-clock.js';

test('a sleep ends by either clock, and leaves no timer at the other', async () => {
  const clock = new FakeClock();
  await shutdownClock(clock).sleep(5);
  expect(clock.sleeping).toBe(0);
  const system = vi.spyOn(systemClock, 'sleep');
  let isOver = false;
  void shutdownClock(clock)
    .sleep(3_600_000)
    .then(() => {
      isOver = true;
    });
  await clock.advance(3_600_000);
  await settled();
  expect(isOver).toBe(true);
  await system.mock.results[0]?.value;
  system.mockRestore();
});

test('for the system clock it is the system clock itself', () => {
  expect(shutdownClock(systemClock)).toBe(systemClock);
});
