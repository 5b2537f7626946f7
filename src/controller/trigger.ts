import { type ApiObject, keyOf, keyText, type ObjectKey, type ResourceType } from '../api/object.js';
import { isValidKey } from '../api/request-keys.js';
import type { CacheChange } from '../client/cache-change.js';
import type { ObjectCache } from '../client/object-cache.js';
import { type ControllerSpec, isTerminal, type ReconcileContext, TerminalError, type Trigger } from './controller.js';
import type { Wake } from './keyed-controller.js';
import { sharedCache } from './shared-cache.js';
import { createWorkQueue, processQueue } from './work-queue.js';

/**
 * The maximum number of states that wait for a retry after `keys` failed, and of those beyond the last two of each
 * object while `keys` is slow. Failures may last, but memory must not grow.
 */
const statesKept = 500;

/** The states of objects of another kind for which `keys` is still to be called: before and after each change. */
class WaitingStates {
  /** The waiting states by object, oldest first. */
  readonly #waiting = new Map<string, ApiObject[]>();
  #count = 0;
  /** The number of existing objects, and its maximum while states waited, because all may be deleted at once. */
  #present = 0;
  #most = 0;
  /** The number of states for which `keys` failed, by object. */
  readonly #failing = new Map<string, number>();
  #failed = 0;

  add({ type, object, previous }: CacheChange<ApiObject>): void {
    if (type === 'added') this.#present++;
    if (type === 'deleted') this.#present--;
    this.#most = Math.max(this.#most, this.#present);
    const id = keyText(keyOf(object));
    const states = this.#waiting.get(id) ?? [];
    this.#waiting.set(id, states);
    const isNew = previous !== undefined && previous !== object && previous !== states.at(-1);
    const news = isNew ? [previous, object] : [object];
    states.push(...news);
    this.#count += news.length;
  }

  /** Removes and returns the states of one object, oldest first. */
  take(id: string): readonly ApiObject[] {
    const states = this.#waiting.get(id) ?? [];
    this.#waiting.delete(id);
    this.#count -= states.length;
    if (this.#count === 0) this.#most = this.#present;
    return states;
  }

  /** Puts the states of an object for which `keys` failed back, before newer ones. */
  failedFor(id: string, states: readonly ApiObject[]): void {
    this.#failed += states.length - (this.#failing.get(id) ?? 0);
    if (states.length === 0) {
      this.#failing.delete(id);
      return;
    }
    this.#failing.set(id, states.length);
    this.#waiting.set(id, [...states, ...(this.#waiting.get(id) ?? [])]);
    this.#count += states.length;
  }

  has(id: string): boolean {
    return this.#waiting.has(id);
  }

  get tooManyWait(): boolean {
    return this.#count > 2 * this.#most + statesKept;
  }

  get tooManyFailed(): boolean {
    return this.#failed > statesKept;
  }

  clear(): void {
    this.#waiting.clear();
    this.#count = 0;
    this.#failing.clear();
    this.#failed = 0;
  }
}

/**
 * Maps changes of another type to keys of the controller. `keys` is called with the state before a change as well as the one
 * after it, so that objects it no longer concerns are reconciled too. Has its own queue, so that a failing `keys` is retried.
 */
export async function runTrigger<T extends ApiObject>(
  trigger: Trigger<ApiObject>,
  context: ReconcileContext,
  target: { readonly cache: ObjectCache<T>; readonly spec: ControllerSpec<T>; readonly wake: Wake<ObjectKey> },
): Promise<void> {
  const { client, clock, log, signal } = context;
  const { kind } = trigger.on;
  const waiting = new WaitingStates();
  /** Reconciles all objects, because these include the ones that the waiting states concern. */
  const lookAtAll = (): void => {
    waiting.clear();
    log.warn({ kind }, 'too many changes to map: all objects are reconciled');
    for (const object of target.cache.list()) target.wake(keyOf(object), kind);
  };
  const queue = createWorkQueue<ObjectKey>({ clock, identity: keyText });
  sharedCache(context, trigger.on, trigger).changes.subscribe((change) => {
    waiting.add(change);
    queue.add(keyOf(change.object));
    if (waiting.tooManyWait) lookAtAll();
  });
  signal.addEventListener('abort', () => queue.shutDown(), { once: true });
  await processQueue(queue, signal, async (lease) => {
    const id = keyText(lease.key);
    const failed: ApiObject[] = [];
    let trouble: unknown;
    for (const state of waiting.take(id)) {
      try {
        wakeAll(await trigger.keys(state, client, target.cache), `${kind} ${id}`, target);
      } catch (error) {
        if (isTerminal(error)) {
          log.error({ object: id, kind, err: error }, 'gave up mapping a change to objects');
        } else {
          failed.push(state);
          trouble = error;
        }
      }
    }
    waiting.failedFor(id, failed);
    if (failed.length === 0) return lease.settle('done');
    log[signal.aborted ? 'debug' : 'warn']({ object: id, kind, err: trouble }, 'could not map a change to objects');
    if (waiting.tooManyFailed) lookAtAll();
    lease.settle(waiting.has(id) ? 'retry' : 'done');
  });
}

/** Adds keys to the queue. Then throws TerminalError if one of them cannot belong to an object of the type. */
function wakeAll<T extends ApiObject>(
  keys: readonly ObjectKey[],
  cause: string,
  { spec, wake }: { readonly spec: ControllerSpec<T>; readonly wake: Wake<ObjectKey> },
): void {
  const misplaced = keys.map((key) => misplacement(spec.for, key));
  for (const [at, key] of keys.entries()) if (misplaced[at] === undefined) wake(key, cause);
  const wrong = misplaced.find((one) => one !== undefined);
  // Retrying would give the same wrong key.
  if (wrong !== undefined) throw new TerminalError(wrong);
}

/** Returns the problem with the namespace of a key for this type; reading such a key would just find nothing. */
function misplacement({ kind, namespaced }: ResourceType, key: ObjectKey): string | undefined {
  if (!isValidKey(key) || Boolean(key.namespace) === namespaced) return undefined;
  const wrong = namespaced ? 'lacks the namespace that every' : 'has a namespace, which no';
  return `the key ${keyText(key)} ${wrong} ${kind} has`;
}
