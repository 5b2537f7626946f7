import { isReason } from '../api/errors.js';
import type { ResourceType } from '../api/object.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { FailureLog, withoutStack } from './failure-log.js';
import { isFault, isOutdated, isRefused } from './watch-errors.js';

/** Observes the health of caches. Each cache reports a change once; a cache that stops takes back what it has reported. */
export interface CacheObserver {
  /** The number of caches that have not completed their first list changes by one; also when such a cache is stopped. */
  syncing(type: ResourceType, change: 1 | -1): void;
  /** The number of caches that keep failing to list or watch changes by one. */
  failing(type: ResourceType, change: 1 | -1): void;
}

/**
 * The waits between retries: 0.8 s doubling to 30 s, up to twice that by jitter; reset after two minutes without a
 * failure.
 */
const retry = { baseMs: 800, capMs: 30_000, quietMs: 120_000 };
/**
 * After this many watches in a row that fail within `soonMs` and without an event, the cache is stuck at its resource
 * version.
 */
const stuck = { soonMs: 10_000, watches: 2 };

/** Tracks failures of list and watch: what is logged, how long to wait, and when to list again. */
export class CacheHealth {
  readonly #type: ResourceType;
  readonly #observer: CacheObserver | undefined;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #random: () => number;
  #failures = 0;
  #failedAt = 0;
  /** The time when the resource version was last too old to resume from. */
  #outdatedAt = Number.NEGATIVE_INFINITY;
  /** The number of watches in a row that failed early, without an event. */
  #fruitless = 0;
  /** Whether the last attempt failed. */
  #isOut = false;
  /** Whether listing or watching fails in an unusual way. */
  #isFailing = false;
  /**
   * Whether the last failure was that of a watch, other than one that just needs a new list. Then a completed list does
   * not count as recovery.
   */
  #watchFails = false;
  /** Whether a watch needed a new list, and no watch has worked since. */
  #beganAnew = false;
  readonly #troubles = new FailureLog();

  constructor(
    type: ResourceType,
    {
      observer,
      clock,
      log,
      random,
    }: {
      readonly observer: CacheObserver | undefined;
      readonly clock: Clock;
      readonly log: Logger;
      readonly random: () => number;
    },
  ) {
    this.#type = type;
    this.#observer = observer;
    this.#clock = clock;
    this.#log = log;
    this.#random = random;
  }

  /** Records that a list or watch failed. Returns how long to wait before the next try, and whether it is to be a list. */
  failed(
    error: unknown,
    {
      wasFollowing,
      gotFurther,
      isSynced,
    }: {
      /** Whether a watch failed, rather than a list. */
      readonly wasFollowing: boolean;
      /** Whether the watch delivered anything before. */
      readonly gotFurther: boolean;
      readonly isSynced: boolean;
    },
  ): { readonly waitMs: number; readonly startsOver: boolean } {
    const outdated = wasFollowing && isOutdated(error);
    // A watch that delivered something before it broke off had worked: earlier failures no longer count.
    if (wasFollowing && !outdated && gotFurther) this.#failures = 0;
    if (isRefused(error)) this.#fruitless = 0;
    const startsOver = outdated || this.#fruitless >= stuck.watches;
    const waitMs = Math.round(this.#nextWait({ isOutdated: outdated && !isFault(error) }));
    const beginsAnew = outdated && !isFault(error) && !this.#beganAnew;
    this.#beganAnew ||= outdated;
    // A failed list says nothing about the watch.
    if (wasFollowing) this.#watchFails = !beginsAnew;
    const isUsual = beginsAnew || (wasFollowing && !outdated && !this.#isOut);
    this.#tell(error, waitMs, { isUsual, isSynced });
    return { waitMs, startsOver };
  }

  /** Records that a list has completed. */
  listed(): void {
    if (!this.#watchFails) this.#wentWell();
    this.#fruitless = 0;
  }

  /** Records that a watch was opened. Proxies that cut off idle connections are not failures. */
  async opened(ended: AbortSignal): Promise<void> {
    await this.#clock.sleep(stuck.soonMs, ended);
    if (ended.aborted) return;
    this.#failures = 0;
    this.watchWorks();
  }

  /** Records that a watch delivered an event that could not be processed. */
  broke(): void {
    this.#isOut = true;
  }

  /** Records that a watch completed without an error. */
  watchCompleted(): void {
    this.#fruitless = 0;
    this.watchWorks();
  }

  /** Records that a watch ended, with or without an error. */
  watchEnded({ events, lastedMs }: { readonly events: number; readonly lastedMs: number }): void {
    const isFruitless = events === 0 && lastedMs < stuck.soonMs;
    this.#fruitless = isFruitless ? this.#fruitless + 1 : 0;
  }

  /** Withdraws what was reported, because the cache has stopped. */
  stopped(): void {
    this.#setFailing(false);
  }

  /**
   * Logs a failure, and again while it lasts. Some failures are expected: a watch breaks off or its resource version
   * has expired, or, for a while, the type is no longer served.
   */
  #tell(
    error: unknown,
    waitMs: number,
    { isUsual, isSynced }: { readonly isUsual: boolean; readonly isSynced: boolean },
  ): void {
    this.#isOut = true;
    if (!isUsual) this.#setFailing(true);
    const isKnown = isSynced && isReason(error, 'NotFound');
    const isNews = !isUsual && this.#troubles.shouldReport(error, this.#clock.monotonic(), { isKnown });
    this.#log[isNews ? 'warn' : 'debug']({ err: withoutStack(error), waitMs }, 'listing or watching failed');
  }

  #setFailing(isFailing: boolean): void {
    if (this.#isFailing === isFailing) return;
    this.#isFailing = isFailing;
    this.#troubles.failureBegan(this.#clock.monotonic());
    this.#observer?.failing(this.#type, isFailing ? 1 : -1);
  }

  #wentWell(): void {
    this.#isOut = false;
    if (!this.#isFailing) return;
    this.#setFailing(false);
    if (this.#troubles.recovered()) this.#log.info({}, 'listing and watching again');
  }

  /** Records that a watch has delivered something. */
  watchWorks(): void {
    this.#beganAnew = false;
    this.#watchFails = false;
    this.#wentWell();
  }

  /**
   * Returns the time to the next attempt. Does not wait if the resource version has merely expired, because the server
   * does respond.
   */
  #nextWait({ isOutdated }: { readonly isOutdated: boolean }): number {
    const now = this.#clock.monotonic();
    if (now - this.#failedAt > retry.quietMs) this.#failures = 0;
    this.#failedAt = now;
    const isFree = isOutdated && now - this.#outdatedAt > retry.quietMs;
    if (isOutdated) this.#outdatedAt = now;
    if (isFree) return 0;
    const failures = this.#failures++;
    return Math.min(retry.capMs, retry.baseMs * 2 ** Math.min(failures, 16)) * (1 + this.#random());
  }
}
