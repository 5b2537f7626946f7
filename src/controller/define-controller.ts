import { type ApiObject, keyOf, keyText, type ObjectKey } from '../api/object.js';
import { type CacheChange, type ObjectCache, openObjectCache } from '../client/object-cache.js';
import type { ControllerSpec, ReconcileContext, ReconcileResult, Runnable, Trigger } from './controller.js';
import { drain, runKeys } from './run-keys.js';
import { type SelectedReader, type Selectors, selectedReader } from './selected.js';
import { createWorkQueue } from './work-queue.js';

/**
 * The loop under every controller: changes put keys into a queue, a worker takes a key, reads the object fresh and
 * hands it to `reconcile`. Reading fresh means that a reconcile never acts on what a cache has not yet heard of. An object
 * that is not selected is none of the controller's, like one that is gone. Throws BadRequest if a selector of `for` cannot
 * be read.
 */
export function defineController<T extends ApiObject>(spec: ControllerSpec<T>): Runnable {
  const read = selectedReader<T>(spec);
  return {
    name: spec.name,
    run: (context) => runController(spec, read, { ...context, log: context.log.child({ controller: spec.name }) }),
  };
}

type Wake = (key: ObjectKey, cause: string, delayMs?: number) => void;

async function runController<T extends ApiObject>(
  spec: ControllerSpec<T>,
  read: SelectedReader<T>,
  context: ReconcileContext,
): Promise<void> {
  const { client, signal } = context;
  if (signal.aborted) return;
  const gone = new Map<string, T>();
  const triggers: Promise<void>[] = [];

  const start = (wake: Wake): void => {
    const cache = openObjectCache(client, spec.for, { ...watching(context), ...selectorsOf(spec) });
    cache.changes.subscribe((change) => {
      const key = keyOf(change.object);
      if (change.type === 'deleted') {
        if (spec.deleted === undefined) return;
        gone.set(keyText(key), change.object);
        wake(key, change.type);
        return;
      }
      const delayMs = delayOf(spec, change, context.clock.now());
      if (delayMs !== undefined) wake(key, change.type, delayMs);
    });
    triggers.push(...(spec.alsoOn ?? []).map((trigger) => runTrigger(trigger, context, { cache, spec, wake })));
  };

  /** Deals with a deletion that was noticed, then with the object that is there now. */
  const reconcile = async (key: ObjectKey): Promise<ReconcileResult> => {
    const id = keyText(key);
    const object = await read(client.resource(spec.for), key);
    const last = gone.get(id);
    if (last !== undefined && spec.deleted !== undefined && last.metadata.uid !== object?.metadata.uid) {
      const result = await spec.deleted(last, context);
      if (gone.get(id) === last) gone.delete(id);
      if (object === undefined) return result;
    }
    if (object === undefined || (spec.when !== undefined && !spec.when(object))) return;
    return spec.reconcile(object, context);
  };

  const { name, concurrency, backoff } = spec;
  const abandon = (key: ObjectKey): void => void gone.delete(keyText(key));
  await runKeys({ name, identity: keyText, concurrency, backoff, start, reconcile, abandon }, context);
  await Promise.all(triggers);
}

const selectorsOf = ({ labelSelector, fieldSelector }: Selectors) => ({ labelSelector, fieldSelector });
const watching = ({ signal, clock, log }: ReconcileContext) => ({ signal, clock, log });

/**
 * How soon a change is worth a look; undefined: not at all. An object whose guard throws is let in: its reconcile then
 * fails, is reported and tried again.
 */
function delayOf<T extends ApiObject>(
  spec: ControllerSpec<T>,
  { object }: CacheChange<T>,
  now: number,
): number | undefined {
  try {
    if (spec.when?.(object) === false) return undefined;
    const at = spec.dueAt === undefined ? now : spec.dueAt(object);
    return at === undefined ? undefined : Math.max(0, at - now);
  } catch {
    return 0;
  }
}

/** States of one object that are asked about again after `keys` failed for them: trouble may last, memory may not grow. */
const statesKept = 20;

/**
 * Turns changes of another type into keys of ours. The state before a change is asked about as well as the one after it:
 * whom an object no longer concerns is told too. Its own queue, so that asking may fail and be asked again.
 */
async function runTrigger<T extends ApiObject>(
  trigger: Trigger<ApiObject>,
  context: ReconcileContext,
  ours: { readonly cache: ObjectCache<T>; readonly spec: ControllerSpec<T>; readonly wake: Wake },
): Promise<void> {
  const { client, clock, log, signal } = context;
  /** States that are still to be asked about, oldest first. */
  const waiting = new Map<string, readonly ApiObject[]>();
  const queue = createWorkQueue<ObjectKey>({ clock, identity: keyText });
  const cache: ObjectCache<ApiObject> = isSameWatch(trigger, ours.spec)
    ? ours.cache
    : openObjectCache(client, trigger.on, { ...watching(context), ...selectorsOf(trigger) });
  cache.changes.subscribe(({ object, previous }) => {
    const id = keyText(keyOf(object));
    const states = waiting.get(id) ?? [];
    const isNew = previous !== undefined && previous !== object && previous !== states.at(-1);
    waiting.set(id, [...states, ...(isNew ? [previous] : []), object]);
    queue.add(keyOf(object));
  });
  signal.addEventListener('abort', () => queue.shutDown(), { once: true });
  await drain(queue, signal, async (lease) => {
    const id = keyText(lease.key);
    const states = waiting.get(id) ?? [];
    waiting.delete(id);
    const failed: ApiObject[] = [];
    let trouble: unknown;
    for (const state of states) {
      try {
        for (const key of await trigger.keys(state, client)) ours.wake(key, `${trigger.on.kind} ${id}`);
      } catch (error) {
        failed.push(state);
        trouble = error;
      }
    }
    if (failed.length === 0) return lease.settle('done');
    waiting.set(id, [...failed.slice(-statesKept), ...(waiting.get(id) ?? [])]);
    const fields = { object: id, kind: trigger.on.kind, err: trouble };
    log[signal.aborted ? 'debug' : 'warn'](fields, 'could not tell whom a change concerns');
    lease.settle('retry');
  });
}

const isSameWatch = <T extends ApiObject>(trigger: Trigger<ApiObject>, spec: ControllerSpec<T>): boolean =>
  trigger.on.group === spec.for.group &&
  trigger.on.version === spec.for.version &&
  trigger.on.plural === spec.for.plural &&
  trigger.fieldSelector === spec.fieldSelector &&
  trigger.labelSelector === spec.labelSelector;
