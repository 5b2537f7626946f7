import type { ApiObject, ObjectKey, ResourceType } from '../api/object.js';
import type { CacheObserver } from '../client/cache-health.js';
import type { Client } from '../client/client.js';
import type { ObjectCache } from '../client/object-cache.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { RateLimit } from './backoff.js';
import type { ControllerMetrics } from './controller-metrics.js';
import type { UnsyncedWatches } from './watches.js';

/** The dependencies of a controller. All of them are passed here; nothing is global. */
export interface ReconcileContext {
  /**
   * From a manager: a client whose calls fail with the signal's reason once the signal has aborted, also those in
   * progress.
   */
  readonly client: Client;
  /**
   * A logger whose lines contain the name: of a controller as `controller`, of another runnable of a manager as
   * `runnable`.
   */
  readonly log: Logger;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly metrics?: ControllerMetrics | undefined;
  /**
   * From a manager: the watches of its started controllers that have not listed yet. While there are any, `/readyz` of
   * a `probeServer` fails.
   */
  readonly unsynced?: UnsyncedWatches | undefined;
  /** Set in a controller: a cache with this observer counts as a watch of the controller, for probes and metrics. */
  readonly cacheObserver?: CacheObserver | undefined;
}

/**
 * The result of a successful reconcile: nothing more to do, or reconcile again later, after at least 1 ms; a time that
 * is not finite counts as an error. Throw to retry with backoff; throw TerminalError to give up.
 */
export type ReconcileResult = void | { readonly requeueAfterMs: number };

/** Moves the world to the state that one object describes. Must be safe to repeat at any time. */
export type Reconcile<T extends ApiObject> = (object: T, context: ReconcileContext) => Promise<ReconcileResult>;

/** A controller of objects of type `T`. `S` are the types in `alsoOn`; both are inferred if neither is given. */
export interface ControllerSpec<T extends ApiObject, S extends readonly ApiObject[] = readonly ApiObject[]> {
  /** The name in log lines and metrics. */
  readonly name: string;
  readonly for: ResourceType<T>;
  /**
   * Namespace of the objects that are watched and reconciled; all by default. With a namespace, a Role in it is enough.
   */
  readonly namespace?: string;
  /**
   * Field selector of the objects that are watched and reconciled, such as `spec.signerName=example.com/ci`. For a
   * field whose name is not its path in the object, each reconcile lists that one object.
   */
  readonly fieldSelector?: string;
  /** Label selector of the objects that are watched and reconciled. */
  readonly labelSelector?: string;
  /**
   * Whether only apiVersion, kind and metadata are watched and held in memory. `reconcile` reads the whole object;
   * `when`, `dueAt` and `deleted` may get either form.
   */
  readonly metadataOnly?: boolean;
  /**
   * Reduces an object to what is held in memory, for large numbers of objects of which little is needed; identity and
   * version must be kept. `reconcile` reads the whole object; `when`, `dueAt` and `deleted` may get either form.
   */
  transform?(object: T): T;
  readonly alsoOn?: { readonly [I in keyof S]: Trigger<S[I]> };
  /** The number of objects reconciled at a time; never two workers on one. Default 1. */
  readonly concurrency?: number;
  /** The wait after the first failure of a key, doubled by every further one up to `capMs`. Default 5 ms to 1,000 s. */
  readonly backoff?: { readonly baseMs: number; readonly capMs: number };
  /**
   * The limit on retries over all keys together: if more keys fail than it permits, they wait longer than `backoff`
   * says. Default 10 a second, 100 at once.
   */
  readonly rateLimit?: RateLimit;
  /**
   * The time limit of one `reconcile` or `deleted`, in milliseconds. After it, the signal of the call's context aborts
   * with a TimeoutError, with which calls of its client fail from then on. The client and signal of that context are
   * not usable after the call. Code that ignores the signal is still waited for, so that no object has two workers.
   * Default: no limit.
   */
  readonly timeoutMs?: number;
  /**
   * Whether to reconcile an object. Called for each event, with the previous state (undefined for a new object), and
   * again with the freshly read object and no previous state.
   */
  when?(object: T, previous?: T): boolean;
  /**
   * Returns when to reconcile a changed object, in milliseconds since the epoch, for time-based work; undefined for not
   * before it changes again. Default: at once. It may be reconciled earlier, for example if the time was postponed:
   * `reconcile` must check the clock itself.
   */
  dueAt?(object: T): number | undefined;
  readonly reconcile: Reconcile<T>;
  /**
   * Called with the last known state of an object that was deleted, or is no longer selected; called again if it
   * returns `requeueAfterMs` or throws. If several objects had the name, called for each.
   */
  deleted?(last: T, context: ReconcileContext): Promise<ReconcileResult>;
}

/** Selects the objects of a kind to watch, and the form in which they are held in memory. */
export interface SharedCacheOptions<T extends ApiObject> {
  /** Namespace of the objects; all by default. */
  readonly namespace?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** Whether only apiVersion, kind and metadata are watched and held in memory. */
  readonly metadataOnly?: boolean;
  /** Reduces an object to what is held in memory; identity and version must be kept. */
  transform?(object: T): T;
}

/** Wakes the controller when objects of another kind change. */
export interface Trigger<S extends ApiObject> extends SharedCacheOptions<S> {
  readonly on: ResourceType<S>;
  /**
   * Returns the keys of the controller's objects that an object in this state concerns; it is passed in the form held
   * in memory. Called with the states before and after a change, in the order of changes; after a deletion, with the
   * last known state. Retried if it fails, unless with TerminalError. If hundreds of states wait, because it keeps
   * failing or is slow, all objects of the controller are reconciled instead. A key that no object can have (`a/b`) is
   * ignored; a key that lacks the namespace of a namespaced kind, or has one for a cluster-scoped kind, is logged as an
   * error. `objects` is the controller's cache of its own kind.
   */
  keys(changed: S, client: Client, objects: ObjectCache<ApiObject>): Promise<readonly ObjectKey[]>;
}

/** A task that runs until it is asked to stop. Controllers are runnables. */
export interface Runnable {
  readonly name: string;
  /** Set for controllers: they use their name in logs and metrics, so it must be unique in a manager. */
  readonly isController?: true;
  run(context: ReconcileContext): Promise<void>;
}

/**
 * Thrown by a reconcile that will never succeed for the object's current state; it is not retried until the object
 * changes.
 */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
}

/** Whether a TerminalError was thrown. The value may be anything, even a proxy that throws when inspected. */
export function isTerminal(thrown: unknown): boolean {
  try {
    return thrown instanceof TerminalError;
  } catch {
    return false;
  }
}
