import { hash } from 'node:crypto';
import type { Clock } from '../runtime/clock.js';
import type { AuthenticationMetrics } from './authentication-metrics.js';
import type { Authenticated } from './authenticator.js';
import type { TokenAuthenticator } from './bearer-token.js';

export interface TokenCacheOptions {
  readonly clock: Clock;
  readonly keepMs?: number;
  readonly limit?: number;
  readonly metrics?: Pick<AuthenticationMetrics, 'cacheLookup' | 'fetched'> | undefined;
}

interface CachedResult {
  readonly found: Authenticated;
  /** The expiry by the monotonic clock, so that results are not kept longer if the time of day is set back. */
  readonly until: number;
}

/**
 * Caches for a few seconds which user a token belongs to. Failures are not cached, and tokens are kept only as digests.
 * The oldest entries are evicted when there are too many, and expired ones when others are added.
 */
export class TokenCache implements TokenAuthenticator {
  readonly #inner: TokenAuthenticator;
  readonly #clock: Clock;
  readonly #keepMs: number;
  readonly #limit: number;
  readonly #metrics: TokenCacheOptions['metrics'];
  readonly #remembered = new Map<string, CachedResult>();

  constructor(inner: TokenAuthenticator, options: TokenCacheOptions) {
    this.#inner = inner;
    this.#clock = options.clock;
    this.#keepMs = options.keepMs ?? 10_000;
    this.#limit = options.limit ?? 20_000;
    this.#metrics = options.metrics;
  }

  async authenticateToken(token: string, audiences: readonly string[]): Promise<Authenticated | undefined> {
    const key = hash('sha256', `${token.length} ${token}${JSON.stringify(audiences)}`, 'base64');
    const known = this.#remembered.get(key);
    const start = this.#clock.monotonic();
    if (known !== undefined && start < known.until) {
      this.#metrics?.cacheLookup(true, 0);
      return known.found;
    }
    this.#remembered.delete(key);

    let isError = true;
    try {
      const found = await this.#inner.authenticateToken(token, audiences);
      isError = false;
      if (found !== undefined) this.#remember(key, found);
      return found;
    } finally {
      this.#metrics?.fetched(isError);
      this.#metrics?.cacheLookup(false, this.#clock.monotonic() - start);
    }
  }

  #remember(key: string, found: Authenticated): void {
    const now = this.#clock.monotonic();
    this.#remembered.set(key, { found, until: now + this.#keepMs });
    // The oldest come first, and expire first.
    for (const [old, { until }] of this.#remembered) {
      if (now < until && this.#remembered.size <= this.#limit) break;
      this.#remembered.delete(old);
    }
  }
}
