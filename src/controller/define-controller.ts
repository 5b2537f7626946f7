import { isReason } from '../api/errors.js';
import { type ApiObject, keyOf, keyText, type ObjectKey } from '../api/object.js';
import { isValidKey } from '../api/request-keys.js';
import type { ObjectCache } from '../client/object-cache.js';
import {
  type ControllerSpec,
  isTerminal,
  type ReconcileContext,
  type ReconcileResult,
  type Runnable,
} from './controller.js';
import { DeletionTracker, isSame } from './deletion-tracker.js';
import { checkNumbers, defineKeyedController, type KeyedWork, type Wake } from './keyed-controller.js';
import { readSelectors, type SelectedReader, selectedReader } from './selected.js';
import { sharedCache } from './shared-cache.js';
import { runTrigger } from './trigger.js';

/**
 * Defines a controller. Changes put keys into a queue; a worker takes a key, reads the object from the server and
 * passes it to `reconcile`. Because it reads from the server, a reconcile never acts on a state that is older than the
 * change. An object that is not selected is treated like one that does not exist. Throws BadRequest if a selector of
 * the controller or of a trigger is invalid, and Error if an option is not a valid number.
 */
export function defineController<
  const T extends ApiObject,
  const S extends readonly ApiObject[] = readonly ApiObject[],
>(spec: ControllerSpec<T, S>): Runnable {
  const read = selectedReader<T>(spec);
  checkNumbers(spec.name, spec);
  for (const trigger of spec.alsoOn ?? []) readSelectors(trigger);
  return defineKeyedController(spec.name, (context) => new ObjectWork(spec, read, context));
}

class ObjectWork<T extends ApiObject> implements KeyedWork<ObjectKey> {
  readonly identity = keyText;
  readonly concurrency: number | undefined;
  readonly backoff: KeyedWork<ObjectKey>['backoff'];
  readonly rateLimit: KeyedWork<ObjectKey>['rateLimit'];
  readonly timeoutMs: number | undefined;
  readonly #spec: ControllerSpec<T>;
  readonly #read: SelectedReader<T>;
  readonly #context: ReconcileContext;
  /** undefined if the controller has no `deleted`. */
  readonly #endings: DeletionTracker<T> | undefined;
  #cache: ObjectCache<T> | undefined;
  #triggers: readonly Promise<void>[] = [];
  #wake: Wake<ObjectKey> = () => {};

  constructor(spec: ControllerSpec<T>, read: SelectedReader<T>, context: ReconcileContext) {
    this.concurrency = spec.concurrency;
    this.backoff = spec.backoff;
    this.rateLimit = spec.rateLimit;
    this.timeoutMs = spec.timeoutMs;
    this.#spec = spec;
    this.#read = read;
    this.#context = context;
    this.#endings =
      spec.deleted &&
      new DeletionTracker<T>({
        clock: context.clock,
        signal: context.signal,
        knows: (object) => isSame(object, this.#cache?.get(keyOf(object))),
        wake: (key) => this.#wake(key, 'unheard of'),
      });
  }

  start(wake: Wake<ObjectKey>): void {
    const spec = this.#spec;
    const { clock } = this.#context;
    const cache = sharedCache(this.#context, spec.for, spec);
    this.#wake = wake;
    this.#cache = cache;
    cache.changes.subscribe((change) => {
      const key = keyOf(change.object);
      if (change.type === 'deleted') {
        if (this.#endings?.deleted(change.object)) wake(key, change.type);
        return;
      }
      this.#endings?.observed(change.object);
      const delayMs = delayOf(spec, change, clock.now());
      if (delayMs !== undefined) wake(key, change.type, delayMs);
    });
    this.#triggers = (spec.alsoOn ?? []).map((trigger) => runTrigger(trigger, this.#context, { cache, spec, wake }));
  }

  /** Handles the pending deletions under the key, then the current object. */
  async reconcile(key: ObjectKey, context: ReconcileContext): Promise<ReconcileResult> {
    const noticed = this.#endings?.pending(key) ?? [];
    const { object, isServed } = await this.#fresh(key, context);
    this.#endings?.readFresh(key, object, noticed);
    if (isServed) this.#endings?.workingOn(key, object);
    const { results, untold } = await this.#tellAll(key, object, context);
    try {
      if (object !== undefined && (this.#spec.when === undefined || this.#spec.when(object)))
        results.push(...(await this.#work(object, context)));
    } catch (error) {
      if (untold.length === 0 || !isTerminal(error)) throw error;
      context.log.error({ object: keyText(key), err: error }, 'reconcile failed and is not retried');
    }
    const next = soonest(results);
    if (untold.length === 0) return next;
    // The object is requeued when it requested that, and not only when its deletion is retried.
    if (next) this.#wake(key, 'requeue', next.requeueAfterMs);
    throw untold[0];
  }

  async stopped(): Promise<void> {
    await Promise.all(this.#triggers);
  }

  async #fresh(
    key: ObjectKey,
    { client }: ReconcileContext,
  ): Promise<{ readonly object: T | undefined; readonly isServed: boolean }> {
    if (!isValidKey(key)) return { object: undefined, isServed: true };
    try {
      return { object: await this.#read(client.resource(this.#spec.for), key), isServed: true };
    } catch (error) {
      // The type is no longer served, for example because its definition was deleted: then an object that is not in the
      // cache does not exist.
      if (!isReason(error, 'NotFound') || this.#cache?.get(key) !== undefined) throw error;
      return { object: undefined, isServed: false };
    }
  }

  async #work(object: T, context: ReconcileContext): Promise<readonly ReconcileResult[]> {
    const spec = this.#spec;
    const result = await spec.reconcile(object, context);
    // The due time may have been postponed after the key was queued for the earlier one.
    const dueMs = spec.dueAt === undefined ? 0 : (delayOf(spec, { object }, context.clock.now()) ?? 0);
    return dueMs > 0 && Number.isFinite(dueMs) ? [result, { requeueAfterMs: dueMs }] : [result];
  }

  /** Calls `deleted` for each pending deletion. A failure does not block other work under the name, and is retried. */
  async #tellAll(key: ObjectKey, object: T | undefined, context: ReconcileContext) {
    const results: ReconcileResult[] = [];
    const untold: unknown[] = [];
    for (const last of this.#endings?.pending(key) ?? []) {
      if (isSame(last, object)) continue;
      try {
        results.push(await this.#tell(key, last, context));
      } catch (error) {
        if (isTerminal(error)) throw error;
        untold.push(error);
      }
    }
    return { results, untold };
  }

  async #tell(key: ObjectKey, last: T, context: ReconcileContext): Promise<ReconcileResult> {
    try {
      // Passes a copy, because others hold the object, too, and it is passed again after a failure.
      const result = await this.#spec.deleted?.(structuredClone(last), context);
      if (!result) this.#endings?.delivered(key, last);
      return result;
    } catch (error) {
      if (isTerminal(error)) {
        this.#endings?.delivered(key, last);
        // A TerminalError for it must not stop other work under the name.
        this.#wake(key, 'deleted');
      }
      throw error;
    }
  }
}

/** Returns the earliest requeue; an invalid time is passed on, to be reported as an error. */
function soonest(results: readonly ReconcileResult[]): ReconcileResult {
  const times = results.flatMap((result) => (result ? [result.requeueAfterMs] : []));
  return times.length === 0 ? undefined : { requeueAfterMs: Math.min(...times) };
}

/**
 * Returns the milliseconds until an object is to be reconciled; undefined: not at all. If `when` or `dueAt` throws, it is
 * reconciled at once: the reconcile then fails, is reported and retried.
 */
function delayOf<T extends ApiObject>(
  spec: ControllerSpec<T>,
  { object, previous }: { readonly object: T; readonly previous?: T | undefined },
  now: number,
): number | undefined {
  try {
    if (spec.when?.(object, previous) === false) return undefined;
    const at = spec.dueAt === undefined ? now : spec.dueAt(object);
    return at === undefined ? undefined : Math.max(0, at - now);
  } catch {
    return 0;
  }
}
