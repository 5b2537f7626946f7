import type { ApiObject, ObjectKey, ResourceType } from '../api/object.js';
import type { CacheObserver } from '../client/cache-health.js';
import type { Client } from '../client/client.js';
import type { ObjectCache } from '../client/object-cache.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { RateLimit } from './backoff.js';
import type { ControllerMetrics } from './controller-metrics.js';
import type { UnsyncedWatches } from './watches.js';

/** What a controller works with. Everything arrives through here; nothing is global. */
export interface ReconcileContext {
  /** From a manager: once the signal aborted, every call fails with its reason, also one under way. */
  readonly client: Client;
  /** Its lines carry the name: of a controller as `controller`, of another runnable of a manager as `runnable`. */
  readonly log: Logger;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly metrics?: ControllerMetrics | undefined;
  /** From a manager: of the controllers that it has started. `/readyz` of a `probeServer` fails while there are any. */
  readonly unsynced?: UnsyncedWatches | undefined;
  /** Set in a controller: a cache with this option counts as a watch of the controller, for probes and metrics. */
  readonly cacheObserver?: CacheObserver | undefined;
}

/**
 * Nothing more to do, or look again later: after at least 1 ms; a time that is not finite counts as an error. Throw to
 * retry with backoff; TerminalError to give up.
 */
export type ReconcileResult = void | { readonly requeueAfterMs: number };

/** Makes the world match one object. Safe to repeat at any time. */
export type Reconcile<T extends ApiObject> = (object: T, context: ReconcileContext) => Promise<ReconcileResult>;

/** `S`: the kinds in `alsoOn`; both are inferred where neither is given. */
export interface ControllerSpec<T extends ApiObject, S extends readonly ApiObject[] = readonly ApiObject[]> {
  /** Used in log lines and metrics. */
  readonly name: string;
  readonly for: ResourceType<T>;
  /** Only objects in this namespace are watched and worked on: a Role there is enough. */
  readonly namespace?: string;
  /**
   * Narrows what is watched and worked on, e.g. `spec.signerName=example.com/ci`. A field whose name is not its path
   * in the object costs a list of that one object for each reconcile.
   */
  readonly fieldSelector?: string;
  /** Narrows what is watched and worked on. */
  readonly labelSelector?: string;
  /**
   * Only apiVersion, kind and metadata are watched and held in memory. `reconcile` reads the whole object; `when`,
   * `dueAt` and `deleted` may see either form.
   */
  readonly metadataOnly?: boolean;
  /**
   * Reduces an object to what is held in memory, for many objects of which little is needed; identity and version must
   * stay. `reconcile` reads the whole object; `when`, `dueAt` and `deleted` may see either form.
   */
  transform?(object: T): T;
  readonly alsoOn?: { readonly [I in keyof S]: Trigger<S[I]> };
  /** Objects worked on at a time; never two workers on one. Default 1. */
  readonly concurrency?: number;
  /** Wait after the first failure of a key, doubled by every further one up to `capMs`. Default 5 ms to 1,000 s. */
  readonly backoff?: { readonly baseMs: number; readonly capMs: number };
  /**
   * Retries after failures over all keys together: while more have failed than it lets through, they wait longer than
   * `backoff` says. Default 10 a second, 100 at once.
   */
  readonly rateLimit?: RateLimit;
  /**
   * How long one `reconcile` or `deleted` may take, in milliseconds. The signal of its context then aborts with a
   * TimeoutError, with which calls of its client fail from then on; both end with the call in any case. What does not
   * heed the signal is still waited for: no object has two workers. Default: as long as it likes.
   */
  readonly timeoutMs?: number;
  /**
   * Checked on the event, with the state before the change where one was seen (undefined for an object that is new),
   * and again on the fresh object, without one.
   */
  when?(object: T, previous?: T): boolean;
  /**
   * For time-based work: when to reconcile a changed object, in milliseconds since the epoch. undefined: not before it
   * changes again. Default: at once. It may be reconciled earlier, for example if the time was postponed: `reconcile`
   * must check the clock itself.
   */
  dueAt?(object: T): number | undefined;
  readonly reconcile: Reconcile<T>;
  /**
   * The object is gone, or no longer selected. Gets its last known state, and is called again if it returns
   * `requeueAfterMs` or throws. Called for each object that had the name.
   */
  deleted?(last: T, context: ReconcileContext): Promise<ReconcileResult>;
}

/** What is watched of a kind, and held in memory. */
export interface SharedCacheOptions<T extends ApiObject> {
  /** Narrows what is watched. */
  readonly namespace?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** Only apiVersion, kind and metadata are watched and held in memory. */
  readonly metadataOnly?: boolean;
  /** Reduces an object to what is held in memory; identity and version must stay. */
  transform?(object: T): T;
}

/** A change to another kind that should wake this controller. */
export interface Trigger<S extends ApiObject> extends SharedCacheOptions<S> {
  readonly on: ResourceType<S>;
  /**
   * Keys of the objects that an object in this state, as it is held in memory, concerns. Called with the states before
   * and after a change, in the order of changes; with the last known state after a deletion. Retried if it fails, unless with TerminalError.
   * If hundreds of states wait, because it keeps failing or is slow, all objects of the controller are reconciled
   * instead. A key that no object can have (`a/b`) is ignored; a key that lacks the namespace of a namespaced kind, or
   * has one for another kind, is logged as an error. `objects` are those of the controller's kind, as it holds them.
   */
  keys(changed: S, client: Client, objects: ObjectCache<ApiObject>): Promise<readonly ObjectKey[]>;
}

/** Something that runs until it is asked to stop. Controllers are runnables. */
export interface Runnable {
  readonly name: string;
  /** It logs and counts under its name, which no other such runnable of a manager has. */
  readonly isController?: true;
  run(context: ReconcileContext): Promise<void>;
}

/** Thrown by a reconcile that will never succeed for this state of the object; not retried until it changes. */
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
