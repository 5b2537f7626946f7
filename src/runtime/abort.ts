import type { Clock } from './clock.js';

/** What was waited for took too long. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/** For signals whose reason nobody reads: without one, each abort makes an error of its own, with a stack. */
export const noLongerNeeded = new Error('no longer needed');

/**
 * Runs something for so long at the most. The signal it gets aborts when the time is over or `signal` aborts; what it
 * does after that is not waited for. Rejects with TimeoutError, or with the reason of `signal`.
 */
export async function within<T>(
  limits: { readonly clock: Clock; readonly milliseconds: number; readonly signal: AbortSignal },
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { clock, milliseconds, signal } = limits;
  signal.throwIfAborted();
  const over = new AbortController();
  const finished = new AbortController();
  const stop = (): void => over.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  void clock.sleep(milliseconds, finished.signal).then(() => {
    if (!finished.signal.aborted) over.abort(new TimeoutError(`not done within ${milliseconds} ms`));
  });
  try {
    return await Promise.race([run(over.signal), rejection(over.signal)]);
  } finally {
    finished.abort(noLongerNeeded);
    signal.removeEventListener('abort', stop);
  }
}

const rejection = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
