/** The only source of time. All code that waits or needs the time takes a clock, so that tests control it. */
export interface Clock {
  /** Returns milliseconds since the epoch. */
  now(): number;
  /** Returns milliseconds since an arbitrary moment, for measuring; unaffected by changes of the time of day. */
  monotonic(): number;
  /** Resolves after this many milliseconds, or immediately (without error) when the signal aborts. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** The time of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (milliseconds, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      // setTimeout takes at most 2^31-1 ms; longer sleeps end early and their callers check the time again.
      const timer = setTimeout(done, Math.min(Math.max(milliseconds, 0), 2_147_483_647));
      signal?.addEventListener('abort', done, { once: true });
    }),
};

/**
 * Returns a clock for waiting during shutdown: its `sleep` also ends when the time has passed by the system clock,
 * because a fake clock that is never advanced would keep the program from stopping.
 */
export function shutdownClock(clock: Clock): Clock {
  if (clock === systemClock) return clock;
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    async sleep(milliseconds, signal) {
      const ended = new AbortController();
      const either = signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal]);
      await Promise.race([clock.sleep(milliseconds, either), systemClock.sleep(milliseconds, either)]);
      ended.abort();
    },
  };
}
