import type { Clock } from '../runtime/clock.js';

/** Returns the milliseconds to wait before the next attempt; `attempt` is the number of the one that failed, from 1. */
export type Backoff = (attempt: number) => number;

export interface ExponentialOptions {
  /** The wait after the first failure. */
  readonly baseMs: number;
  readonly capMs: number;
}

/** Returns a backoff of `baseMs`, doubled after every further failure, up to `capMs`. */
export const exponentialBackoff =
  ({ baseMs, capMs }: ExponentialOptions): Backoff =>
  (attempt) =>
    Math.min(capMs, baseMs * 2 ** Math.max(0, attempt - 1));

/** At most `burst` at once and `perSecond` on average. */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

/** Limits a rate over all keys together. */
export interface TokenBucket {
  /** Takes a token, now or in the future; returns the milliseconds until it is available. */
  reserve(): number;
  /** Takes a token if one is available now. */
  tryTake(): boolean;
}

export function tokenBucket({ clock, perSecond, burst }: RateLimit & { readonly clock: Clock }): TokenBucket {
  let tokens = burst;
  let filledAt = clock.monotonic();
  const fill = (): void => {
    const now = clock.monotonic();
    tokens = Math.min(burst, tokens + ((now - filledAt) * perSecond) / 1_000);
    filledAt = now;
  };
  return {
    reserve() {
      fill();
      tokens -= 1;
      return tokens >= 0 ? 0 : (-tokens * 1_000) / perSecond;
    },
    tryTake() {
      fill();
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}

/**
 * Returns the longer of the exponential backoff of the key and the wait for the rate limit over all keys. Default: the
 * limits of Kubernetes' controllers, 5 ms doubling to 1,000 s per key, and 10 retries a second (100 at once) over all.
 */
export function defaultBackoff(
  clock: Clock,
  perKey: ExponentialOptions = { baseMs: 5, capMs: 1_000_000 },
  rateLimit: RateLimit = { perSecond: 10, burst: 100 },
): Backoff {
  const exponential = exponentialBackoff(perKey);
  const bucket = tokenBucket({ clock, ...rateLimit });
  return (attempt) => Math.max(exponential(attempt), bucket.reserve());
}
