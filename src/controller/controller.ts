import type { ApiObject, ObjectKey, ResourceType } from '../api/object.js';
import type { Client } from '../client/client.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { RateLimit } from './backoff.js';
import type { ControllerMetrics } from './controller-metrics.js';

/** What a controller works with. Everything arrives through here; nothing is global. */
export interface ReconcileContext {
  /** From a manager: once the signal aborted, every call fails with its reason, also one under way. */
  readonly client: Client;
  readonly log: Logger;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly metrics?: ControllerMetrics | undefined;
}

/**
 * Nothing more to do, or look again later: after at least 1 ms; a time that is not finite counts as an error. Throw to
 * retry with backoff; TerminalError to give up.
 */
export type ReconcileResult = void | { readonly requeueAfterMs: number };

/** Brings the world in line with one object. Safe to repeat at any time. */
export type Reconcile<T extends ApiObject> = (object: T, context: ReconcileContext) => Promise<ReconcileResult>;

/** `S`: the kinds in `alsoOn`; both are inferred where neither is given. */
export interface ControllerSpec<T extends ApiObject, S extends readonly ApiObject[] = readonly ApiObject[]> {
  /** Stands in log lines and metrics. */
  readonly name: string;
  readonly for: ResourceType<T>;
  /** Only what is in this namespace is watched and worked on: a Role there is right enough. */
  readonly namespace?: string;
  /**
   * Narrows what is watched and worked on, e.g. `spec.signerName=example.com/ci`. A field that does not stand in the object
   * where its name says costs a list of that one object for each reconcile.
   */
  readonly fieldSelector?: string;
  /** Narrows what is watched and worked on. */
  readonly labelSelector?: string;
  /**
   * Nothing but apiVersion, kind and metadata is watched and held in memory. `reconcile` reads the whole object; `when`,
   * `dueAt` and `deleted` see the one or the other.
   */
  readonly metadataOnly?: boolean;
  /**
   * What is held in memory of an object, for controllers of many that need little of each; identity and version must stay.
   * `reconcile` reads the whole object; `when`, `dueAt` and `deleted` see the one or the other.
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
   * Checked on the event, with the state before the change where one was seen (undefined for an object that is new), and again
   * on the fresh object, without one.
   */
  when?(object: T, previous?: T): boolean;
  /**
   * For work that is a matter of time: when an object that changed is to be looked at, in milliseconds since the epoch.
   * undefined: not before it changes again. Default: at once. It may be looked at before that as well, as when its time
   * was put off: `reconcile` sees for itself what time it is.
   */
  dueAt?(object: T): number | undefined;
  readonly reconcile: Reconcile<T>;
  /**
   * The object is gone, or no longer selected. Its last known state is given, once more for each time that was to be looked
   * again. Called for each that had the name.
   */
  deleted?(last: T, context: ReconcileContext): Promise<ReconcileResult>;
}

/** A change to another kind that should wake this controller. */
export interface Trigger<S extends ApiObject> {
  readonly on: ResourceType<S>;
  /** Narrows what is watched. */
  readonly namespace?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** Nothing but apiVersion, kind and metadata is watched, held in memory and given to `keys`. */
  readonly metadataOnly?: boolean;
  /** What is held in memory of an object and given to `keys`; identity and version must stay. */
  transform?(object: S): S;
  /**
   * Whom an object in this state concerns. Asked about the state before a change and about the one after it, in the order
   * of changes; about the last known one if it was deleted. Asked again if it fails, unless with TerminalError. Where
   * hundreds of states wait, because it goes on to fail or is slow to answer, all objects of the controller are looked at
   * instead. A key under which there can be
   * no object (`a/b`) is one of none; one without the namespace that the controller's kind has, or with one that it has not,
   * is told as an error in the log.
   */
  keys(changed: S, client: Client): Promise<readonly ObjectKey[]>;
}

/** Something that runs until told to stop. Controllers are runnables. */
export interface Runnable {
  readonly name: string;
  run(context: ReconcileContext): Promise<void>;
}

/** Thrown by a reconcile that will never succeed for this state of the object; not retried until it changes. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
}

/** Is that what was thrown? It may be anything, also what fails when it is looked at. */
export function isTerminal(thrown: unknown): boolean {
  try {
    return thrown instanceof TerminalError;
  } catch {
    return false;
  }
}
