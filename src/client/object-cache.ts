import { isDeepStrictEqual } from 'node:util';
import { ApiError, codes, isReason } from '../api/errors.js';
import { type ApiObject, keyOf, keyText, type ObjectKey, type ResourceType } from '../api/object.js';
import { type Clock, systemClock } from '../runtime/clock.js';
import { type Logger, silentLogger } from '../runtime/logger.js';
import { Observable, type Subscriber, type Subscription } from '../runtime/observable.js';
import type { Client, ListOptions, MetadataOnly, ResourceClient, WatchEvent, WatchOptions } from './client.js';
import { Troubles, withoutStack } from './troubles.js';

/**
 * A copy of one type's objects that is always a consistent view. It lists once, then watches; a watch that ends is
 * resumed where it stopped. Only if the server cannot continue from there, or if two watches in a row fail early and
 * without an event, all objects are listed again and replaced at once. It reads from a Client and serves controllers,
 * and never gives up before its signal aborts.
 */
export interface ObjectCache<T extends ApiObject> {
  /** Resolves when the first list is in, or the cache stopped before that; never rejects. */
  readonly synced: Promise<void>;
  get(key: ObjectKey): T | undefined;
  /** The same array until something changes. */
  list(): readonly T[];
  /** The present objects as `added`, then every change, in order. Completes when the cache stops. */
  readonly changes: Observable<CacheChange<T>>;
}

/** A change of what a cache holds. */
export type CacheChange<T extends ApiObject> =
  | { readonly type: 'added'; readonly object: T; readonly previous: undefined }
  | { readonly type: 'modified'; readonly object: T; readonly previous: T }
  /** `object` is the last known state. */
  | { readonly type: 'deleted'; readonly object: T; readonly previous: T };

/** Is told how caches of somebody fare. Each tells of a change once, and nothing is left to tell of one that has stopped. */
export interface CacheObserver {
  /** One more has not listed anything yet, or one fewer: it has, or was stopped. */
  syncing(type: ResourceType, change: 1 | -1): void;
  /** One more fails to list or watch, again and again, or one fewer. */
  failing(type: ResourceType, change: 1 | -1): void;
}

/** Which objects are kept, in what form, and until when. */
export interface ObjectCacheOptions<T extends ApiObject = ApiObject> {
  /** Stops the cache. */
  readonly signal: AbortSignal;
  readonly clock?: Clock;
  readonly log?: Logger;
  /** Numbers in [0, 1); spreads retries. */
  readonly random?: () => number;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Objects that are listed at a time. Default 500. */
  readonly pageSize?: number;
  /** Objects have only apiVersion, kind and metadata; the rest is never sent or parsed. */
  readonly metadataOnly?: boolean | undefined;
  /**
   * Reduces an object to what is kept and published, for caches of many objects; identity and version must stay. While
   * it throws, the cache does not change, logs the reason, and tries again.
   */
  readonly transform?: ((object: T) => T) | undefined;
  /** Is told whether it lists and watches. In a controller: that of its context. */
  readonly cacheObserver?: CacheObserver | undefined;
}

/** Starts a cache of one type. */
export function openObjectCache(
  client: Client,
  type: ResourceType,
  options: ObjectCacheOptions & MetadataOnly,
): ObjectCache<ApiObject>;
export function openObjectCache<T extends ApiObject>(
  client: Client,
  type: ResourceType<T>,
  options: ObjectCacheOptions<T>,
): ObjectCache<T>;
export function openObjectCache<T extends ApiObject>(
  client: Client,
  type: ResourceType<T>,
  options: ObjectCacheOptions<T>,
): ObjectCache<T> {
  const cache = new Reflector(client.resource(type), type, options);
  void cache.run();
  return cache;
}

/** Waits between tries: 0.8 s doubling to 30 s, up to twice that by jitter; forgotten after two quiet minutes. */
const retry = { baseMs: 800, capMs: 30_000, quietMs: 120_000 };
/** A watch asks for 5 to 10 minutes; half a minute later it counts as lost. */
const watchSeconds = { least: 300, spread: 300 };
const lostAfterMs = 30_000;
/** A watch that ends sooner than this without an event is a failure, not an end. */
const shortWatchMs = 1_000;
/** Watches that fail sooner than `soonMs` without an event, so many in a row, do not get beyond a place in history. */
const stuck = { soonMs: 10_000, watches: 2 };

interface Page<T> {
  readonly items: readonly T[];
  readonly version: string;
  readonly next: string | undefined;
  readonly whole: boolean;
}

class Reflector<T extends ApiObject> implements ObjectCache<T> {
  readonly synced: Promise<void>;
  readonly changes: Observable<CacheChange<T>>;
  readonly #resource: ResourceClient<T>;
  readonly #type: ResourceType;
  readonly #observer: CacheObserver | undefined;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #random: () => number;
  readonly #signal: AbortSignal;
  readonly #scope: Pick<ListOptions & WatchOptions, 'namespace' | 'labelSelector' | 'fieldSelector' | 'metadataOnly'>;
  readonly #pageSize: number;
  readonly #transform: (object: T) => T;
  readonly #subscribers = new Set<Subscriber<CacheChange<T>>>();
  #objects: Map<string, T> = new Map();
  #array: readonly T[] | undefined;
  #version: string | undefined;
  #isSynced = false;
  #markSynced: () => void = () => {};
  #failures = 0;
  #failedAt = 0;
  /** When the place in history was last of no more use. */
  #outdatedAt = Number.NEGATIVE_INFINITY;
  /** Watches in a row that failed soon, without an event. */
  #fruitless = 0;
  /** Whether the last try failed. */
  #isOut = false;
  /** Whether listing or watching fails in an unusual way. */
  #isFailing = false;
  /** Whether the last to fail was a watch, for another reason than that it wants a list: that lists work says nothing then. */
  #watchFails = false;
  /** Whether a watch wanted to begin anew, and none has worked since. */
  #beganAnew = false;
  readonly #troubles = new Troubles();

  constructor(resource: ResourceClient<T>, type: ResourceType<T>, options: ObjectCacheOptions<T>) {
    this.#resource = resource;
    this.#type = type;
    this.#observer = options.cacheObserver;
    this.#signal = options.signal;
    this.#clock = options.clock ?? systemClock;
    this.#log = (options.log ?? silentLogger).child({ cache: type.plural });
    this.#random = options.random ?? Math.random;
    this.#pageSize = options.pageSize ?? 500;
    this.#transform = options.transform ?? ((object) => object);
    const { namespace, labelSelector, fieldSelector, metadataOnly } = options;
    this.#scope = {
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
      ...(metadataOnly === undefined ? {} : { metadataOnly }),
    };
    this.synced = new Promise((resolve) => {
      this.#markSynced = resolve;
    });
    this.#observer?.syncing(type, 1);
    this.changes = new Observable((subscriber) => {
      for (const object of this.list()) subscriber.next({ type: 'added', object, previous: undefined });
      if (this.#signal.aborted) return subscriber.complete();
      this.#subscribers.add(subscriber);
      return () => this.#subscribers.delete(subscriber);
    });
  }

  get(key: ObjectKey): T | undefined {
    return this.#objects.get(keyText(key));
  }

  list(): readonly T[] {
    this.#array ??= [...this.#objects.values()];
    return this.#array;
  }

  /** Resolves once stopped. */
  async run(): Promise<void> {
    while (!this.#signal.aborted) {
      const from = this.#version;
      try {
        if (from === undefined) await this.#listAll();
        else await this.#follow(from);
      } catch (error) {
        if (this.#signal.aborted) break;
        const wasFollowing = from !== undefined;
        const outdated = wasFollowing && isOutdated(error);
        // A watch that got further before it broke off worked: what failed before it says nothing of the next.
        if (wasFollowing && !outdated && this.#version !== from) this.#failures = 0;
        if (isRefused(error)) this.#fruitless = 0;
        if (outdated || this.#fruitless >= stuck.watches) this.#version = undefined;
        const waitMs = Math.round(this.#nextWait({ isOutdated: outdated && !isFault(error) }));
        const beginsAnew = outdated && !isFault(error) && !this.#beganAnew;
        this.#beganAnew ||= outdated;
        // That a list fails says nothing of the watch.
        if (wasFollowing) this.#watchFails = !beginsAnew;
        const isUsual = beginsAnew || (wasFollowing && !outdated && !this.#isOut);
        this.#tell(error, waitMs, { isUsual });
        if (waitMs > 0) await this.#clock.sleep(waitMs, this.#signal);
      }
    }
    for (const subscriber of [...this.#subscribers]) subscriber.complete();
    this.#subscribers.clear();
    this.#setFailing(false);
    if (!this.#isSynced) this.#observer?.syncing(this.#type, -1);
    this.#markSynced();
  }

  /**
   * Whoever reads the log learns why nothing happens, and again while that lasts. That a watch breaks off or is too far
   * back is usual, and so is that a type goes which was served, for a while.
   */
  #tell(error: unknown, waitMs: number, { isUsual }: { readonly isUsual: boolean }): void {
    this.#isOut = true;
    if (!isUsual) this.#setFailing(true);
    const isKnown = this.#isSynced && isReason(error, 'NotFound');
    const isNews = !isUsual && this.#troubles.isNews(error, this.#clock.monotonic(), { isKnown });
    this.#log[isNews ? 'warn' : 'debug']({ err: withoutStack(error), waitMs }, 'listing or watching failed');
  }

  #setFailing(isFailing: boolean): void {
    if (this.#isFailing === isFailing) return;
    this.#isFailing = isFailing;
    this.#troubles.began(this.#clock.monotonic());
    this.#observer?.failing(this.#type, isFailing ? 1 : -1);
  }

  #wentWell(): void {
    this.#isOut = false;
    if (!this.#isFailing) return;
    this.#setFailing(false);
    if (this.#troubles.over()) this.#log.info({}, 'listing and watching again');
  }

  #watchWorks(): void {
    this.#beganAnew = false;
    this.#watchFails = false;
    this.#wentWell();
  }

  /** None if the place in history expired for once: whatever failed before, as while the server started, it answers now. */
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

  async #listAll(): Promise<void> {
    const found = new Map<string, T>();
    let version = '';
    let next: string | undefined;
    do {
      const page = await this.#page(next);
      if (page.whole) found.clear();
      for (const object of page.items) {
        const key = keyText(keyOf(object));
        found.set(key, this.#asKnown(key, this.#transform(object)));
      }
      version = page.version;
      next = page.next;
    } while (next !== undefined && next !== '' && !this.#signal.aborted);
    if (this.#signal.aborted) return;
    if (!this.#watchFails) this.#wentWell();
    this.#swap(found);
    this.#version = version;
    this.#fruitless = 0;
    if (!this.#isSynced) this.#observer?.syncing(this.#type, -1);
    this.#isSynced = true;
    this.#markSynced();
  }

  /** What is known already, if it is the same to the last field: the server may show it otherwise now. */
  #asKnown(key: string, object: T): T {
    const known = this.#objects.get(key);
    return known !== undefined && isDeepStrictEqual(known, object) ? known : object;
  }

  /** One page; everything in one if the pages begun are no longer to be had. */
  async #page(next: string | undefined): Promise<Page<T>> {
    const options = { ...this.#scope, limit: this.#pageSize };
    try {
      const { items, metadata } = await this.#resource.list(
        next === undefined ? options : { ...options, continue: next },
      );
      return { items, version: metadata.resourceVersion, next: metadata.continue, whole: false };
    } catch (error) {
      if (next === undefined || !isReason(error, 'Expired')) throw error;
      const { items, metadata } = await this.#resource.list(this.#scope);
      return { items, version: metadata.resourceVersion, next: undefined, whole: true };
    }
  }

  /** Replaces everything at once, then tells what differs. */
  #swap(found: Map<string, T>): void {
    const before = this.#objects;
    // Who comes meanwhile begins with all of the new ones.
    const present = [...this.#subscribers];
    const emit = (change: CacheChange<T>): void => this.#emit(change, present);
    this.#objects = found;
    this.#array = undefined;
    for (const [key, previous] of before) {
      if (!found.has(key)) emit({ type: 'deleted', object: previous, previous });
    }
    for (const [key, object] of found) {
      const previous = before.get(key);
      if (previous !== object) emitDifference(previous, object, emit);
    }
  }

  #emit(change: CacheChange<T>, to: readonly Subscriber<CacheChange<T>>[] = [...this.#subscribers]): void {
    for (const subscriber of to) subscriber.next(change);
  }

  /** One watch, to its end. Rejects if it failed. */
  async #follow(from: string): Promise<void> {
    const timeoutSeconds = watchSeconds.least + Math.floor(this.#random() * watchSeconds.spread);
    const startedAt = this.#clock.monotonic();
    const over = new AbortController();
    const lasted = (): number => this.#clock.monotonic() - startedAt;
    let events = 0;
    let isOpen = false;
    let subscription: Subscription | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        const stop = (): void => resolve();
        this.#signal.addEventListener('abort', stop, { once: true, signal: over.signal });
        // Nothing may happen for long, and whoever cuts off silent connections makes no trouble.
        const onOpen = async (): Promise<void> => {
          isOpen = true;
          await this.#clock.sleep(stuck.soonMs, over.signal);
          if (over.signal.aborted) return;
          this.#failures = 0;
          this.#watchWorks();
        };
        subscription = this.#resource
          .watch({
            ...this.#scope,
            resourceVersion: from,
            allowBookmarks: true,
            timeoutSeconds,
            onOpen: () => void onOpen(),
          })
          .subscribe({
            next: (event) => {
              if (over.signal.aborted) return;
              events++;
              try {
                this.#take(event);
              } catch (error) {
                // The object is at fault, and so will be the next time: nothing behind it counts, and somebody is to know.
                this.#isOut = true;
                reject(error);
                over.abort();
              }
            },
            error: reject,
            complete: resolve,
          });
        const lost = (): void => (isOpen || events > 0 ? resolve() : reject(new Error('the watch was never answered')));
        void this.#clock.sleep(timeoutSeconds * 1_000 + lostAfterMs, over.signal).then(lost);
      });
    } finally {
      over.abort();
      subscription?.unsubscribe();
      const isFruitless = events === 0 && lasted() < stuck.soonMs;
      this.#fruitless = isFruitless ? this.#fruitless + 1 : 0;
    }
    if (this.#signal.aborted) return;
    if (events === 0 && lasted() < shortWatchMs) {
      throw new Error('the watch ended at once, without an event');
    }
    this.#fruitless = 0;
    this.#watchWorks();
  }

  #take(event: WatchEvent<T>): void {
    if (event.type === 'BOOKMARK') {
      this.#watchWorks();
      this.#version = event.resourceVersion;
      return;
    }
    const object = this.#transform(event.object);
    const key = keyText(keyOf(object));
    this.#watchWorks();
    const previous = this.#objects.get(key);
    this.#version = object.metadata.resourceVersion ?? this.#version;
    this.#array = undefined;
    if (event.type === 'DELETED') {
      if (previous === undefined) return;
      this.#objects.delete(key);
      this.#emit({ type: 'deleted', object, previous });
      return;
    }
    this.#objects.set(key, object);
    if (previous?.metadata.resourceVersion !== object.metadata.resourceVersion)
      emitDifference(previous, object, (change) => this.#emit(change));
  }
}

/** An ERROR event, or an answer, of a server that failed at this watch: it would fail again. */
const isFault = (error: unknown): boolean => error instanceof ApiError && error.code === codes.InternalError;

/**
 * The place in history is of no more use: too old, from another history, not yet reached, or none that the server can
 * go on from. Trouble that passes is not, as when the server is busy or a proxy does not reach it.
 */
const isOutdated = (error: unknown): boolean =>
  error instanceof ApiError &&
  error.code !== codes.TooManyRequests &&
  (error.code < 500 || isFault(error) || isReason(error, 'Timeout')) &&
  !isReason(error, 'Unauthorized') &&
  !isReason(error, 'Forbidden');

/** The watch never began, as the server is busy or down: nothing is known of the place in history. */
const isRefused = (error: unknown): boolean =>
  error instanceof ApiError
    ? error.code === codes.TooManyRequests
    : error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';

/** Another object of the same name is one that went and one that came. */
function emitDifference<T extends ApiObject>(
  previous: T | undefined,
  object: T,
  emit: (change: CacheChange<T>) => void,
): void {
  if (previous !== undefined && previous.metadata.uid !== object.metadata.uid) {
    emit({ type: 'deleted', object: previous, previous });
    emit({ type: 'added', object, previous: undefined });
  } else if (previous === undefined) emit({ type: 'added', object, previous });
  else emit({ type: 'modified', object, previous });
}
