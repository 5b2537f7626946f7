import { isReason } from '../api/errors.js';
import { withoutStack } from '../client/failure-log.js';
import { TimeoutError, timeoutSignal } from '../runtime/abort.js';
import { defaultBackoff, type RateLimit } from './backoff.js';
import { clientUntil, underlyingClient } from './client-until.js';
import { isTerminal, type ReconcileContext, type ReconcileResult, type Runnable } from './controller.js';
import type { ReconcileOutcome } from './controller-metrics.js';
import { shareCachesWith } from './shared-cache.js';
import { observerOf } from './watches.js';
import { createWorkQueue, processQueue, type WorkItem, type WorkQueue } from './work-queue.js';

/** Puts a key into the queue, at once or after a number of milliseconds; `cause` is logged. */
export type Wake<K> = (key: K, cause: string, delayMs?: number) => void;

/** The work of a controller whose keys are of any type, such as names of signers or groups of objects. */
export interface KeyedWork<K> {
  /** Returns the text of a key, which is also logged; keys with the same text are the same. */
  readonly identity: (key: K) => string;
  /** The number of keys worked on at a time; never two workers on one. Default 1. */
  readonly concurrency?: number | undefined;
  /** The wait after the first failure of a key, doubled by every further one up to `capMs`. Default 5 ms to 1,000 s. */
  readonly backoff?: { readonly baseMs: number; readonly capMs: number } | undefined;
  /** The limit on retries over all keys together. Default 10 a second, 100 at once. */
  readonly rateLimit?: RateLimit | undefined;
  /** The time limit of one `reconcile`, in milliseconds. Default: no limit. */
  readonly timeoutMs?: number | undefined;
  /**
   * Called once. No key is worked on before it has resolved, so that it may wait for caches. Everything it starts must
   * end with the context's signal.
   */
  start(wake: Wake<K>): void | Promise<void>;
  /**
   * Moves the world to the state that a key stands for. Errors and requeueing work as in `defineController`. With
   * `timeoutMs`, the context is only for this call.
   */
  reconcile(key: K, context: ReconcileContext): Promise<ReconcileResult>;
  /** Called once after the last key, to wait for anything else that must end before the controller does. */
  stopped?(): Promise<void>;
}

/**
 * Defines a controller that does not work on the objects of one kind, with the same queue, retries, metrics and log
 * lines. `work` is called for each run.
 */
export const defineKeyedController = <K>(
  name: string,
  work: (context: ReconcileContext) => KeyedWork<K>,
): Runnable => ({
  name,
  isController: true,
  async run(options) {
    if (options.signal.aborted) return;
    const log = options.log.child({ controller: name });
    const context = { ...options, log, cacheObserver: observerOf(name, options) };
    await workThrough(name, work(context), context);
  },
});

/** Throws an Error for an option that is not a valid number. */
export function checkNumbers(
  name: string,
  {
    concurrency = 1,
    backoff,
    rateLimit,
    timeoutMs,
  }: Pick<KeyedWork<never>, 'concurrency' | 'backoff' | 'rateLimit' | 'timeoutMs'>,
): void {
  if (!(Number.isSafeInteger(concurrency) && concurrency >= 1))
    throw new Error(`controller ${name}: concurrency must be an integer of at least 1, not ${concurrency}`);
  const numbers = {
    ...(backoff && { 'backoff.baseMs': backoff.baseMs, 'backoff.capMs': backoff.capMs }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(rateLimit && { 'rateLimit.perSecond': rateLimit.perSecond, 'rateLimit.burst': rateLimit.burst }),
  };
  for (const [option, value] of Object.entries(numbers))
    if (!(Number.isFinite(value) && value > 0))
      throw new Error(`controller ${name}: ${option} must be a number greater than 0, not ${value}`);
}

/** Runs until the signal aborts. One log line per reconcile. */
async function workThrough<K>(name: string, work: KeyedWork<K>, context: ReconcileContext): Promise<void> {
  const { signal, metrics } = context;
  const { identity, timeoutMs } = work;
  checkNumbers(name, work);
  const { queue, leave } = countedQueue(name, work, context);
  /** The causes of waiting keys. */
  const causes = new Map<string, string>();

  const wake: Wake<K> = (key, cause, delayMs = 0) => {
    if (delayMs > 0) {
      queue.add(key, delayMs);
      return;
    }
    const object = identity(key);
    if (!causes.has(object)) causes.set(object, cause);
    queue.add(key);
  };

  const workOn = async (lease: WorkItem<K>): Promise<void> => {
    const { key, attempt } = lease;
    const object = identity(key);
    const cause = causes.get(object) ?? (attempt > 1 ? 'retry' : 'requeue');
    causes.delete(object);
    const attempted = { object, cause, attempt };
    const report = reportOf(name, attempted, context);
    try {
      const result = await withinTime({ name, object, timeoutMs }, context, (limited) => work.reconcile(key, limited));
      const outcome = result ? { afterMs: finite(result.requeueAfterMs) } : 'done';
      report(result ? 'requeue' : 'done');
      lease.settle(outcome);
    } catch (error) {
      const terminal = isTerminal(error);
      try {
        report(terminal ? 'terminal' : 'retry', error);
      } catch {
        // Anything may be thrown, even a proxy that throws when inspected. That must not affect other keys.
        context.log.warn(attempted, 'reconcile failed with an error that cannot be logged');
      }
      lease.settle(terminal ? 'done' : 'retry');
    }
  };

  signal.addEventListener('abort', () => queue.shutDown(), { once: true });
  const workers = work.concurrency ?? 1;
  const ended = metrics?.started?.(name, workers);
  try {
    await work.start(wake);
    await Promise.all(Array.from({ length: workers }, () => processQueue(queue, signal, workOn)));
  } finally {
    leave();
    ended?.();
  }
  await work.stopped?.();
}

/** Returns the queue of a controller, instrumented with metrics. */
function countedQueue<K>(
  name: string,
  { identity, backoff, rateLimit }: KeyedWork<K>,
  { clock, metrics }: ReconcileContext,
): {
  readonly queue: WorkQueue<K>;
  /** Subtracts the keys that still wait from the metrics. */
  leave(): void;
} {
  /** The number of keys waiting for a worker. */
  let waiting = 0;
  const waits = (change: number): void => {
    waiting += change;
    metrics?.queued?.(name, change);
  };
  const queue = createWorkQueue<K>({
    clock,
    identity,
    backoff: defaultBackoff(clock, backoff, rateLimit),
    events: metrics && {
      added() {
        metrics.added?.(name);
        waits(1);
      },
      taken(waitedMs) {
        waits(-1);
        metrics.waited?.(name, waitedMs / 1_000);
      },
      delayed: () => metrics.delayed?.(name),
    },
  });
  return { queue, leave: () => waits(-waiting) };
}

/** Begins the report on a reconcile. Returns the function that records its outcome, once, in the metrics and the log. */
function reportOf(
  name: string,
  attempted: { readonly object: string; readonly cause: string; readonly attempt: number },
  { clock, log, signal, metrics }: ReconcileContext,
): (result: ReconcileOutcome, err?: unknown) => void {
  const startedAt = clock.monotonic();
  const done = metrics?.took?.(name, () => (clock.monotonic() - startedAt) / 1_000);
  return (result, err) => {
    const tookMs = clock.monotonic() - startedAt;
    done?.();
    metrics?.reconciled(name, result, tookMs / 1_000, err);
    const { object, attempt } = attempted;
    const fields = {
      ...attempted,
      durationMs: Math.round(tookMs),
      result,
      // For errors of the server, the stack is logged only on the first attempt.
      ...(err === undefined ? {} : { err: attempt > 1 ? withoutStack(err) : err }),
    };
    if (result === 'terminal') log.error(fields, 'reconcile failed and is not retried');
    else if (result !== 'retry') log.info(fields, 'reconciled');
    else if (signal.aborted || (attempt <= racesLost && isLostRace(object, err))) log.debug(fields, 'reconcile failed');
    else log.warn(fields, 'reconcile failed');
  };
}

/** Calls `work` with the context; with a time limit, with a context that ends then. */
async function withinTime<R>(
  {
    name,
    object,
    timeoutMs,
  }: { readonly name: string; readonly object: string; readonly timeoutMs: number | undefined },
  context: ReconcileContext,
  work: (context: ReconcileContext) => Promise<R>,
): Promise<R> {
  if (timeoutMs === undefined) return work(context);
  const { clock, log, metrics } = context;
  const { signal, end } = timeoutSignal({ clock, milliseconds: timeoutMs, signals: [context.signal] });
  const late = (): void => {
    if (!(signal.reason instanceof TimeoutError)) return;
    metrics?.timedOut?.(name);
    // The log line of the result follows when the call has ended, which may be never.
    log.warn({ object, timeoutMs }, 'reconcile exceeded its timeout');
  };
  signal.addEventListener('abort', late, { once: true });
  try {
    // The signal already follows that of the controller. A client derived from the context's client would add a
    // listener to both.
    const client = clientUntil(signal, underlyingClient(context.client));
    return await work({ ...context, signal, client: shareCachesWith(context, client) });
  } finally {
    end(callOver);
  }
}

const callOver = new Error('the reconcile that this client belongs to has ended');

/**
 * The number of conflicts in a row that are logged without a warning: a reconcile that reads the object again soon
 * succeeds.
 */
const racesLost = 3;

/**
 * Whether another client wrote or deleted the object first. An apply conflict with another field manager is not a race,
 * because it persists.
 */
function isLostRace(object: string, error: unknown): boolean {
  if (isReason(error, 'NotFound')) return error.details?.name === object.slice(object.lastIndexOf('/') + 1);
  return isReason(error, 'Conflict') && !error.details?.causes?.some(({ reason }) => reason === 'FieldManagerConflict');
}

/** Throws for a time that is not finite, which would be due immediately, again and again. */
function finite(requeueAfterMs: number): number {
  if (Number.isFinite(requeueAfterMs)) return Math.max(1, requeueAfterMs);
  throw new Error(`reconcile returned requeueAfterMs: ${requeueAfterMs}, which is not a finite number`);
}
