import { isDeepStrictEqual } from 'node:util';
import { isReason } from '../api/errors.js';
import { type ApiObject, keyOf, keyText, type ObjectKey, type ResourceType } from '../api/object.js';
import { noLongerNeeded, onAbort } from '../runtime/abort.js';
import { type Clock, systemClock } from '../runtime/clock.js';
import { type Logger, silentLogger } from '../runtime/logger.js';
import { Observable, type Subscriber, type Subscription } from '../runtime/observable.js';
import { type CacheChange, emitDifference } from './cache-change.js';
import { CacheHealth, type CacheObserver } from './cache-health.js';
import type { Client, ListOptions, MetadataOnly, ResourceClient, WatchEvent, WatchOptions } from './client.js';

/**
 * A copy of one type's objects that is always a consistent view. It lists once, then watches; a watch that ends is
 * resumed where it stopped. Only if the server cannot continue from there, or if two watches in a row fail early and
 * without an event, are all objects listed again and replaced at once. The cache reads through a Client, and retries
 * until its signal aborts.
 */
export interface ObjectCache<T extends ApiObject> {
  /** Resolves when the first list is complete, or the cache stopped before that; never rejects. */
  readonly synced: Promise<void>;
  get(key: ObjectKey): T | undefined;
  /** Returns the same array until something changes. */
  list(): readonly T[];
  /** The current objects as `added`, then every change, in order. Completes when the cache stops. */
  readonly changes: Observable<CacheChange<T>>;
}

/** Selects the objects to cache, their form, and the lifetime of the cache. */
export interface ObjectCacheOptions<T extends ApiObject = ApiObject> {
  /** Stops the cache. */
  readonly signal: AbortSignal;
  readonly clock?: Clock;
  readonly log?: Logger;
  /** Returns numbers in [0, 1), which spread retries. */
  readonly random?: () => number;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** The number of objects per page of a list. Default 500. */
  readonly pageSize?: number;
  /** Cache only apiVersion, kind and metadata; the rest is never sent or parsed. */
  readonly metadataOnly?: boolean | undefined;
  /**
   * Reduces an object before it is cached and published, for caches of many objects; identity and version must be kept.
   * While it throws, the cache does not change, logs the error, and tries again.
   */
  readonly transform?: ((object: T) => T) | undefined;
  /** Observes whether the cache lists and watches. In a controller, the one of its context. */
  readonly cacheObserver?: CacheObserver | undefined;
}

/** Starts a cache of one type. */
export function openObjectCache(
  client: Client,
  type: ResourceType,
  options: ObjectCacheOptions & MetadataOnly,
): ObjectCache<ApiObject>;
export function openObjectCache<const T extends ApiObject>(
  client: Client,
  type: ResourceType<T>,
  options: ObjectCacheOptions<T>,
): ObjectCache<T>;
export function openObjectCache<const T extends ApiObject>(
  client: Client,
  type: ResourceType<T>,
  options: ObjectCacheOptions<T>,
): ObjectCache<T> {
  const cache = new Reflector(client.resource(type), type, options);
  void cache.run();
  return cache;
}

/** A watch requests 5 to 10 minutes; half a minute after its end it counts as lost. */
const watchSeconds = { least: 300, spread: 300 };
const lostAfterMs = 30_000;
/** A watch that ends sooner than this without an event counts as a failure. */
const shortWatchMs = 1_000;
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
  readonly #health: CacheHealth;

  constructor(resource: ResourceClient<T>, type: ResourceType<T>, options: ObjectCacheOptions<T>) {
    this.#resource = resource;
    this.#type = type;
    this.#observer = options.cacheObserver;
    this.#signal = options.signal;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#health = new CacheHealth(type, {
      observer: options.cacheObserver,
      clock: this.#clock,
      log: (options.log ?? silentLogger).child({ cache: type.plural }),
      random: this.#random,
    });
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
        const { waitMs, startsOver } = this.#health.failed(error, {
          wasFollowing: from !== undefined,
          gotFurther: this.#version !== from,
          isSynced: this.#isSynced,
        });
        if (startsOver) this.#version = undefined;
        if (waitMs > 0) await this.#clock.sleep(waitMs, this.#signal);
      }
    }
    for (const subscriber of [...this.#subscribers]) subscriber.complete();
    this.#subscribers.clear();
    this.#health.stopped();
    if (!this.#isSynced) this.#observer?.syncing(this.#type, -1);
    this.#markSynced();
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
      // Watching from the version of the first page reports changes between pages, also with servers that read each
      // page at the latest version.
      if (next === undefined || page.whole) version = page.version;
      next = page.next;
    } while (next !== undefined && next !== '' && !this.#signal.aborted);
    if (this.#signal.aborted) return;
    this.#health.listed();
    this.#swap(found);
    this.#version = version;
    if (!this.#isSynced) this.#observer?.syncing(this.#type, -1);
    this.#isSynced = true;
    this.#markSynced();
  }

  /**
   * Returns the cached object if it equals the new one in all fields. The resource version alone does not tell: the
   * server may now return the same version in another form.
   */
  #asKnown(key: string, object: T): T {
    const known = this.#objects.get(key);
    return known !== undefined && isDeepStrictEqual(known, object) ? known : object;
  }

  /** Lists one page; lists everything at once if the pages begun have expired. */
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

  /** Replaces everything at once, then emits the differences. */
  #swap(found: Map<string, T>): void {
    const before = this.#objects;
    // A subscriber that joins meanwhile starts with all new objects.
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

  /** Runs one watch to its end. Rejects if it failed. */
  async #follow(from: string): Promise<void> {
    const timeoutSeconds = watchSeconds.least + Math.floor(this.#random() * watchSeconds.spread);
    const startedAt = this.#clock.monotonic();
    const ended = new AbortController();
    const lasted = (): number => this.#clock.monotonic() - startedAt;
    let events = 0;
    let isOpen = false;
    let subscription: Subscription | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        const stopListening = onAbort(this.#signal, resolve);
        onAbort(ended.signal, stopListening);
        const onOpen = (): void => {
          isOpen = true;
          void this.#health.opened(ended.signal);
        };
        subscription = this.#resource
          .watch({
            ...this.#scope,
            resourceVersion: from,
            allowBookmarks: true,
            timeoutSeconds,
            onOpen,
          })
          .subscribe({
            next: (event) => {
              if (ended.signal.aborted) return;
              events++;
              try {
                this.#take(event);
              } catch (error) {
                // The object causes the failure and would cause it again: events after it are not processed, and the
                // failure is reported.
                this.#health.broke();
                reject(error);
                ended.abort(noLongerNeeded);
              }
            },
            error: reject,
            complete: resolve,
          });
        const lost = (): void => (isOpen || events > 0 ? resolve() : reject(new Error('the watch was not answered')));
        void this.#clock.sleep(timeoutSeconds * 1_000 + lostAfterMs, ended.signal).then(lost);
      });
    } finally {
      ended.abort(noLongerNeeded);
      subscription?.unsubscribe();
      this.#health.watchEnded({ events, lastedMs: lasted() });
    }
    if (this.#signal.aborted) return;
    if (events === 0 && lasted() < shortWatchMs) {
      throw new Error('the watch ended at once, without an event');
    }
    this.#health.watchCompleted();
  }

  #take(event: WatchEvent<T>): void {
    if (event.type === 'BOOKMARK') {
      this.#health.watchWorks();
      this.#version = event.resourceVersion;
      return;
    }
    const object = this.#transform(event.object);
    const key = keyText(keyOf(object));
    this.#health.watchWorks();
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
