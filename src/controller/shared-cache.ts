import { type ApiObject, groupResource, type ObjectKey, type ResourceType } from '../api/object.js';
import type { CacheChange } from '../client/cache-change.js';
import type { CacheObserver } from '../client/cache-health.js';
import type { Client, MetadataOnly } from '../client/client.js';
import { type ObjectCache, openObjectCache } from '../client/object-cache.js';
import { noLongerNeeded } from '../runtime/abort.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { Observable, type Subscriber } from '../runtime/observable.js';
import type { ReconcileContext, SharedCacheOptions } from './controller.js';
import { controllerContext, registerCallClient } from './controller-context.js';
import { identityAndOwners } from './identity-and-owners.js';

type CacheUser = Pick<ReconcileContext, 'signal' | 'clock' | 'log' | 'cacheObserver'>;

/**
 * Returns the cache of a kind, which all controllers of a manager with the same client share. It may be called any
 * number of times, also from a reconcile, and nothing is watched or held twice. The cache is opened for its first user
 * and closed when the last one has stopped; for each user it ends with the context's signal.
 *
 * Users share a cache if they request the same namespace, selectors, form and `transform` function. A user that
 * requests metadata only may get whole objects from an existing cache, and a user that joins later gets a cache that
 * lags behind the server by the events that have not arrived. Objects are shared and must not be changed. Throws an
 * Error if one controller requests the same objects in a 21st form.
 */
export function sharedCache(
  context: ReconcileContext,
  type: ResourceType,
  watch: SharedCacheOptions<ApiObject> & MetadataOnly,
): ObjectCache<ApiObject>;
export function sharedCache<const T extends ApiObject>(
  context: ReconcileContext,
  type: ResourceType<T>,
  watch?: SharedCacheOptions<T>,
): ObjectCache<T>;
export function sharedCache<const T extends ApiObject>(
  context: ReconcileContext,
  type: ResourceType<T>,
  watch: SharedCacheOptions<T> = {},
): ObjectCache<T> {
  return cachesOf(context.client).open(type, watch, controllerContext(context));
}

/** The caches shared by all users of a client. */
export class SharedCaches {
  readonly #client: Client;
  readonly #open = new Set<SharedWatch<ApiObject>>();

  constructor(client: Client) {
    this.#client = client;
  }

  open<T extends ApiObject>(type: ResourceType<T>, watch: SharedCacheOptions<T>, user: CacheUser): ObjectCache<T> {
    const requested = { type, watch, clock: user.clock } as CacheRequest<ApiObject>;
    if (user.signal.aborted) return openObjectCache(this.#client, type, user);
    const alike = [...this.#open].filter((one) => one.isOfSame(requested));
    const has = (one: SharedWatch<ApiObject>): boolean => one.viewOf(user) !== undefined;
    const fitting = alike.filter((one) => one.satisfies(requested));
    // A new user does not wait for a cache that is failing if another works.
    const known = fitting.find(has) ?? fitting.find((one) => one.works);
    if (known === undefined && alike.filter(has).length >= mostForms)
      throw new Error(
        `${groupResource(type)} are held in ${mostForms} forms: transform must be the same function each time`,
      );
    const shared = known ?? new SharedWatch(this.#client, requested, (one) => this.#open.delete(one));
    this.#open.add(shared);
    // A cache that satisfies the request has objects of the requested type.
    return (shared.viewOf(user) ?? shared.join(user)) as ObjectCache<ApiObject> as ObjectCache<T>;
  }
}

/**
 * The maximum number of caches that differ in their form only: a `transform` written inline is a new function each
 * time.
 */
const mostForms = 20;

const cachesByClient = new WeakMap<Client, SharedCaches>();

/** Lets users of this client share caches with users of other clients that have the same `SharedCaches`. */
export function shareCaches(client: Client, caches: SharedCaches): Client {
  cachesByClient.set(client, caches);
  return client;
}

/** Lets the client of a single call share the caches of its controller. */
export function shareCachesWith(controller: ReconcileContext, client: Client): Client {
  registerCallClient(controller, client);
  return shareCaches(client, cachesOf(controller.client));
}

function cachesOf(client: Client): SharedCaches {
  const caches = cachesByClient.get(client) ?? new SharedCaches(client);
  cachesByClient.set(client, caches);
  return caches;
}

interface CacheRequest<T extends ApiObject> {
  readonly type: ResourceType<T>;
  readonly watch: SharedCacheOptions<T>;
  readonly clock: Clock;
}

class SharedWatch<T extends ApiObject> {
  readonly #request: CacheRequest<T>;
  readonly #cache: ObjectCache<T>;
  readonly #stop = new AbortController();
  readonly #onLeft: (self: SharedWatch<T>) => void;
  readonly #users = new Map<CacheUser, View<T>>();
  #isSynced = false;
  #isFailing = false;

  constructor(client: Client, request: CacheRequest<T>, onLeft: (self: SharedWatch<T>) => void) {
    const { type, watch, clock } = request;
    const { namespace, labelSelector, fieldSelector, metadataOnly, transform } = watch;
    this.#request = request;
    this.#onLeft = onLeft;
    this.#cache = openObjectCache(client, type, {
      namespace,
      labelSelector,
      fieldSelector,
      metadataOnly,
      transform,
      signal: this.#stop.signal,
      clock,
      log: toEach(() => new Set(Array.from(this.#users.keys(), ({ log }) => log))),
      cacheObserver: this.#observer(),
    });
  }

  /** Whether a request is for the same objects, in whatever form. */
  isOfSame({ type, watch, clock }: CacheRequest<T>): boolean {
    const own = this.#request;
    return (
      type.group === own.type.group &&
      type.version === own.type.version &&
      type.plural === own.type.plural &&
      clock === own.clock &&
      watch.namespace === own.watch.namespace &&
      watch.labelSelector === own.watch.labelSelector &&
      watch.fieldSelector === own.watch.fieldSelector
    );
  }

  /** A cache of whole objects also serves a request for metadata only, unless it has a `transform`. */
  satisfies({ watch }: CacheRequest<T>): boolean {
    const own = this.#request.watch;
    if (watch.transform === own.transform && !watch.metadataOnly === !own.metadataOnly) return true;
    if (own.transform !== undefined) return false;
    return watch.transform === identityAndOwners || (watch.transform === undefined && watch.metadataOnly === true);
  }

  get works(): boolean {
    return !this.#isFailing;
  }

  /** Returns the view that a user already has, unless it has stopped. */
  viewOf(user: CacheUser): ObjectCache<T> | undefined {
    for (const [one, view] of this.#users) if (isSameUser(one, user)) return view;
    return undefined;
  }

  /** Creates a view for a new user. */
  join(user: CacheUser): ObjectCache<T> {
    const { signal, cacheObserver } = user;
    const view = new View(this.#cache);
    this.#users.set(user, view);
    const { type } = this.#request;
    // Each watch of a user is reported once, even if it never fails.
    cacheObserver?.syncing(type, 1);
    if (this.#isSynced) cacheObserver?.syncing(type, -1);
    signal.addEventListener('abort', () => this.#leave(user), { once: true });
    return view;
  }

  #leave(user: CacheUser): void {
    this.#users.get(user)?.end();
    this.#users.delete(user);
    const { type } = this.#request;
    if (this.#isFailing) user.cacheObserver?.failing(type, -1);
    if (!this.#isSynced) user.cacheObserver?.syncing(type, -1);
    if (this.#users.size > 0) return;
    this.#onLeft(this);
    this.#stop.abort(noLongerNeeded);
  }

  /** Returns an observer that informs all users; each is informed of the first list when it joins. */
  #observer(): CacheObserver {
    const observers = (): readonly (CacheObserver | undefined)[] =>
      Array.from(this.#users.keys(), ({ cacheObserver }) => cacheObserver);
    return {
      syncing: (type, change) => {
        if (change > 0) return;
        this.#isSynced = true;
        for (const one of observers()) one?.syncing(type, change);
      },
      failing: (type, change) => {
        this.#isFailing = change > 0;
        for (const one of observers()) one?.failing(type, change);
      },
    };
  }
}

/** One user's view of a shared cache; it ends with that user. */
class View<T extends ApiObject> implements ObjectCache<T> {
  readonly synced: Promise<void>;
  readonly changes: Observable<CacheChange<T>>;
  readonly #cache: ObjectCache<T>;
  readonly #subscribers = new Set<Subscriber<CacheChange<T>>>();
  #isOver = false;
  #resolveEnded: () => void = () => {};

  constructor(cache: ObjectCache<T>) {
    this.#cache = cache;
    const ended = new Promise<void>((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.synced = Promise.race([cache.synced, ended]);
    this.changes = new Observable((subscriber) => {
      this.#subscribers.add(subscriber);
      subscriber.add(() => this.#subscribers.delete(subscriber));
      cache.changes.subscribe(subscriber);
      if (this.#isOver) subscriber.complete();
    });
  }

  get(key: ObjectKey): T | undefined {
    return this.#cache.get(key);
  }

  list(): readonly T[] {
    return this.#cache.list();
  }

  end(): void {
    this.#isOver = true;
    this.#resolveEnded();
    for (const subscriber of [...this.#subscribers]) subscriber.complete();
  }
}

/** Whether two users are the same controller. Users without an observer are identified by their log. */
const isSameUser = (one: CacheUser, other: CacheUser): boolean =>
  one.signal === other.signal &&
  one.cacheObserver === other.cacheObserver &&
  (one.cacheObserver !== undefined || one.log === other.log);

/** Returns a logger that writes to all current users' logs. */
function toEach(logs: () => Iterable<Logger>): Logger {
  const line =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (fields: object, message: string): void => {
      for (const log of logs()) log[level](fields, message);
    };
  return {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    child: (fields) => toEach(() => Array.from(logs(), (log) => log.child(fields))),
  };
}
