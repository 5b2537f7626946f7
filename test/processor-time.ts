import { expect } from 'vitest';

/**
 * For tests of what must not take long. They look at the processor time of this process, in milliseconds, which others on
 * the machine stretch far less than the time of a clock, and try again before they fail: the first time loads and compiles,
 * and only what takes long whenever it is done takes it by itself.
 */
async function spentOn(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Something takes less than so many milliseconds. */
export async function expectShort(mostMs: number, work: () => unknown): Promise<void> {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 4 && least >= mostMs; tries++) {
    least = Math.min(least, await spentOn(work));
    // A fault that takes so long is one, and trying it again would only outlast the test.
    if (least > 5 * mostMs) break;
  }
  expect(least, 'milliseconds of processor time').toBeLessThan(mostMs);
}
