import { isReason } from '../api/errors.js';
import { canBeLookedUp } from '../api/looked-up.js';
import { type ApiObject, keyOf, keyText, type ObjectKey, type ResourceType } from '../api/object.js';
import { type ObjectCache, openObjectCache } from '../client/object-cache.js';
import { Ahead } from './ahead.js';
import {
  type ControllerSpec,
  isTerminal,
  type ReconcileContext,
  type ReconcileResult,
  type Runnable,
  TerminalError,
  type Trigger,
} from './controller.js';
import { checkNumbers, defineKeyedController, type KeyedWork, type Wake } from './keyed-controller.js';
import { readSelectors, type SelectedReader, type Selectors, selectedReader } from './selected.js';
import { createWorkQueue, drain } from './work-queue.js';

/**
 * The loop under every controller: changes put keys into a queue, a worker takes a key, reads the object fresh and
 * hands it to `reconcile`. Reading fresh means that a reconcile never acts on what a cache has not yet heard of. An object
 * that is not selected is none of the controller's, like one that is gone. Throws BadRequest if a selector of it or
 * of a trigger cannot be read, Error if a number is none.
 */
export function defineController<T extends ApiObject, const S extends readonly ApiObject[] = readonly ApiObject[]>(
  spec: ControllerSpec<T, S>,
): Runnable {
  const read = selectedReader<T>(spec);
  checkNumbers(spec.name, spec);
  for (const trigger of spec.alsoOn ?? []) readSelectors(trigger);
  return defineKeyedController(spec.name, (context) => workOf(spec, read, context));
}

function workOf<T extends ApiObject>(
  spec: ControllerSpec<T>,
  read: SelectedReader<T>,
  context: ReconcileContext,
): KeyedWork<ObjectKey> {
  const { client, signal } = context;
  /** Those whose end is still to be told, by key: several may have had one name. */
  const gone = new Map<string, readonly T[]>();
  const goneAt = (id: string): readonly T[] => gone.get(id) ?? [];
  const hasGone = (id: string, last: T): void =>
    void gone.set(id, [...goneAt(id).filter((one) => !isSame(one, last)), last]);
  const forget = (id: string, last: T): void => {
    const left = goneAt(id).filter((one) => one !== last);
    if (left.length > 0) gone.set(id, left);
    else gone.delete(id);
  };
  let wakeAgain: Wake<ObjectKey> = () => {};
  let known: ObjectCache<T> | undefined;
  const ahead = new Ahead<T>({
    clock: context.clock,
    signal,
    knows: (object) => isSame(object, known?.get(keyOf(object))),
    wake: (key) => wakeAgain(key, 'unheard of'),
  });
  const triggers: Promise<void>[] = [];

  const start = (wake: Wake<ObjectKey>): void => {
    wakeAgain = wake;
    const cache = openObjectCache(client, spec.for, { ...watching(context), ...watchOf(spec) });
    known = cache;
    cache.changes.subscribe((change) => {
      const key = keyOf(change.object);
      const isGone = change.type === 'deleted';
      const isNews = ahead.hears(change.object, { isGone });
      if (isGone) {
        if (spec.deleted === undefined || !isNews) return;
        hasGone(keyText(key), change.object);
        wake(key, change.type);
        return;
      }
      const delayMs = delayOf(spec, change, context.clock.now());
      if (delayMs !== undefined) wake(key, change.type, delayMs);
    });
    triggers.push(...(spec.alsoOn ?? []).map((trigger) => runTrigger(trigger, context, { cache, spec, wake })));
  };

  const tell = async (key: ObjectKey, last: T): Promise<ReconcileResult> => {
    try {
      const result = await spec.deleted?.(last, context);
      if (!result) forget(keyText(key), last);
      return result;
    } catch (error) {
      if (isTerminal(error)) {
        forget(keyText(key), last);
        // What else there is under the name is not given up with it.
        wakeAgain(key, 'deleted');
      }
      throw error;
    }
  };

  /** What cannot be told yet keeps nothing else under the name waiting, and is told again. */
  const tellAll = async (key: ObjectKey, object: T | undefined) => {
    const results: ReconcileResult[] = [];
    const untold: unknown[] = [];
    for (const last of goneAt(keyText(key))) {
      if (isSame(last, object)) continue;
      try {
        results.push(await tell(key, last));
      } catch (error) {
        if (isTerminal(error)) throw error;
        untold.push(error);
      }
    }
    return { results, untold };
  };

  /** Deals with the deletions that were noticed, then with the object that is there now. */
  const reconcile = async (key: ObjectKey): Promise<ReconcileResult> => {
    const id = keyText(key);
    const noticed = goneAt(id);
    let isServed = true;
    const found = canBeLookedUp(key) ? read(client.resource(spec.for), key) : Promise.resolve(undefined);
    const object = await found.catch((error: unknown) => {
      // Served no more, as when its definition went: what the cache has none of either is gone.
      if (!isReason(error, 'NotFound') || known?.get(key) !== undefined) throw error;
      isServed = false;
      return undefined;
    });
    for (const last of noticed) if (isSame(last, object)) forget(id, last);
    if (spec.deleted !== undefined && isServed) {
      const ended = ahead.ended(id, object);
      if (ended !== undefined) hasGone(id, ended);
      if (object !== undefined) ahead.worksOn(object);
    }
    const { results, untold } = await tellAll(key, object);
    try {
      if (object !== undefined && (spec.when === undefined || spec.when(object))) results.push(...(await work(object)));
    } catch (error) {
      if (untold.length === 0 || !isTerminal(error)) throw error;
      context.log.error({ object: id, err: error }, 'reconcile failed for good');
    }
    const next = soonest(results);
    if (untold.length === 0) return next;
    // It is looked at again when it asked to be, and not only when the end is tried again.
    if (next) wakeAgain(key, 'requeue', next.requeueAfterMs);
    throw untold[0];
  };

  const work = async (object: T): Promise<readonly ReconcileResult[]> => {
    const result = await spec.reconcile(object, context);
    // What is due later than was thought has been woken by the alarm of before, which alone counted.
    const dueMs = spec.dueAt === undefined ? 0 : (delayOf(spec, { object }, context.clock.now()) ?? 0);
    return dueMs > 0 && Number.isFinite(dueMs) ? [result, { requeueAfterMs: dueMs }] : [result];
  };

  const stopped = async (): Promise<void> => {
    await Promise.all(triggers);
  };
  const { concurrency, backoff, rateLimit } = spec;
  return { identity: keyText, concurrency, backoff, rateLimit, start, reconcile, stopped };
}

/** The earliest of the times at which to look again; a time that is none is passed on, to be an error. */
function soonest(results: readonly ReconcileResult[]): ReconcileResult {
  const times = results.flatMap((result) => (result ? [result.requeueAfterMs] : []));
  return times.length === 0 ? undefined : { requeueAfterMs: Math.min(...times) };
}

/** One object in two states, and not another of its name. */
const isSame = (a: ApiObject, b: ApiObject | undefined): boolean => a.metadata.uid === b?.metadata.uid;
interface Watched<T extends ApiObject> extends Selectors {
  readonly metadataOnly?: boolean;
  transform?(object: T): T;
}
const watchOf = <T extends ApiObject>(given: Watched<T>) => ({
  namespace: given.namespace,
  labelSelector: given.labelSelector,
  fieldSelector: given.fieldSelector,
  metadataOnly: given.metadataOnly,
  transform: given.transform,
});
const watching = ({ signal, clock, log }: ReconcileContext) => ({ signal, clock, log });

/**
 * How soon an object is worth a look; undefined: not at all. One whose guard throws is let in: its reconcile then fails, is
 * reported and tried again.
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

/**
 * So many states may wait to be asked about again after `keys` failed for them, and so many beyond the last two of each
 * object while it is slow to answer: trouble may last, memory may not grow.
 */
const statesKept = 500;

/**
 * Turns changes of another type into keys of ours. The state before a change is asked about as well as the one after it:
 * whom an object no longer concerns is told too. Its own queue, so that asking may fail and be asked again.
 */
async function runTrigger<T extends ApiObject>(
  trigger: Trigger<ApiObject>,
  context: ReconcileContext,
  ours: { readonly cache: ObjectCache<T>; readonly spec: ControllerSpec<T>; readonly wake: Wake<ObjectKey> },
): Promise<void> {
  const { client, clock, log, signal } = context;
  const { kind } = trigger.on;
  /** States that are still to be asked about, oldest first. */
  const waiting = new Map<string, ApiObject[]>();
  let waits = 0;
  /** Objects of the other type that there are, and the most that there were while states waited: all may go at once. */
  let present = 0;
  let most = 0;
  /** How many of those `keys` failed for, by object and together. */
  const failing = new Map<string, number>();
  let count = 0;
  const fails = (id: string, states: number): void => {
    count += states - (failing.get(id) ?? 0);
    if (states > 0) failing.set(id, states);
    else failing.delete(id);
  };
  /** Whomever the states concern that waited is among all. */
  const lookAtAll = (): void => {
    waiting.clear();
    waits = 0;
    failing.clear();
    count = 0;
    log.warn({ kind }, 'could not tell whom so many changes concern: all are looked at');
    for (const object of ours.cache.list()) ours.wake(keyOf(object), kind);
  };
  const queue = createWorkQueue<ObjectKey>({ clock, identity: keyText });
  const cache: ObjectCache<ApiObject> = isSameWatch(trigger, ours.spec)
    ? ours.cache
    : openObjectCache(client, trigger.on, { ...watching(context), ...watchOf(trigger) });
  cache.changes.subscribe(({ type, object, previous }) => {
    if (type === 'added') present++;
    if (type === 'deleted') present--;
    most = Math.max(most, present);
    const id = keyText(keyOf(object));
    const states = waiting.get(id) ?? [];
    waiting.set(id, states);
    const isNew = previous !== undefined && previous !== object && previous !== states.at(-1);
    const news = isNew ? [previous, object] : [object];
    states.push(...news);
    waits += news.length;
    queue.add(keyOf(object));
    if (waits > 2 * most + statesKept) lookAtAll();
  });
  signal.addEventListener('abort', () => queue.shutDown(), { once: true });
  await drain(queue, signal, async (lease) => {
    const id = keyText(lease.key);
    const states = waiting.get(id) ?? [];
    waiting.delete(id);
    waits -= states.length;
    if (waits === 0) most = present;
    const failed: ApiObject[] = [];
    let trouble: unknown;
    for (const state of states) {
      try {
        const keys = await trigger.keys(state, client);
        const misplaced = keys.map((key) => misplacement(ours.spec.for, key));
        for (const [at, key] of keys.entries()) if (misplaced[at] === undefined) ours.wake(key, `${kind} ${id}`);
        const wrong = misplaced.find((one) => one !== undefined);
        // It would be as wrong the next time.
        if (wrong !== undefined) throw new TerminalError(wrong);
      } catch (error) {
        if (isTerminal(error)) {
          log.error({ object: id, kind, err: error }, 'gave up to tell whom a change concerns');
        } else {
          failed.push(state);
          trouble = error;
        }
      }
    }
    fails(id, failed.length);
    if (failed.length === 0) return lease.settle('done');
    log[signal.aborted ? 'debug' : 'warn']({ object: id, kind, err: trouble }, 'could not tell whom a change concerns');
    waiting.set(id, [...failed, ...(waiting.get(id) ?? [])]);
    waits += failed.length;
    if (count > statesKept) lookAtAll();
    lease.settle(waiting.has(id) ? 'retry' : 'done');
  });
}

/** What is wrong with a key's namespace: under it there can be no object of the type, and a lookup would look well. */
function misplacement({ kind, namespaced }: ResourceType, key: ObjectKey): string | undefined {
  if (!canBeLookedUp(key) || Boolean(key.namespace) === namespaced) return undefined;
  const wrong = namespaced ? 'lacks the namespace that every' : 'has a namespace, which no';
  return `the key ${keyText(key)} ${wrong} ${kind} has`;
}

const isSameWatch = <T extends ApiObject>(trigger: Trigger<ApiObject>, spec: ControllerSpec<T>): boolean =>
  trigger.on.group === spec.for.group &&
  trigger.on.version === spec.for.version &&
  trigger.on.plural === spec.for.plural &&
  trigger.namespace === spec.namespace &&
  trigger.fieldSelector === spec.fieldSelector &&
  trigger.labelSelector === spec.labelSelector &&
  trigger.metadataOnly === spec.metadataOnly &&
  trigger.transform === spec.transform;
