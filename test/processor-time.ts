import { expect } from 'vitest';

/**
 * For tests of work that must not take long. They measure the processor time of this process, in milliseconds, which
 * other processes influence far less than elapsed time. They try again before they fail, because the first attempt
 * loads and compiles code; only work that is slow in every attempt is slow by itself.
 */
async function spentOn(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Expects that some work takes less than this many milliseconds. */
export async function expectShort(mostMs: number, work: () => unknown): Promise<void> {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 4 && least >= mostMs; tries++) {
    least = Math.min(least, await spentOn(work));
    // Work that takes this long is a fault, and another attempt would only exceed the test's timeout.
    if (least > 5 * mostMs) break;
  }
  expect(least, 'milliseconds of processor time').toBeLessThan(mostMs);
}
