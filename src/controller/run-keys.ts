import { isReason } from '../api/errors.js';
import { defaultBackoff, type RateLimit } from './backoff.js';
import { isTerminal, type ReconcileContext, type ReconcileResult } from './controller.js';
import type { ReconcileOutcome } from './controller-metrics.js';
import { createWorkQueue, type Lease, type WorkQueue } from './work-queue.js';

/** Work that comes as keys: the loop under controllers, for those too that are not about one type of objects. */
export interface KeyedWork<K> {
  /** Stands in log lines and metrics. */
  readonly name: string;
  /** Keys of the same text are the same key. */
  readonly identity: (key: K) => string;
  /** Keys worked on at a time. Default 1. */
  readonly concurrency?: number | undefined;
  readonly backoff?: { readonly baseMs: number; readonly capMs: number } | undefined;
  readonly rateLimit?: RateLimit | undefined;
  /** Called once, before any work; what it starts ends with the context's signal. */
  start(wake: (key: K, cause: string, delayMs?: number) => void): void;
  reconcile(key: K): Promise<ReconcileResult>;
}

/** Runs until the signal aborts. One log line per reconcile, on the context's log. */
export async function runKeys<K>(work: KeyedWork<K>, context: ReconcileContext): Promise<void> {
  const { clock, log, signal, metrics } = context;
  if (signal.aborted) return;
  const { identity, name } = work;
  /** Keys that wait for a worker. */
  let waiting = 0;
  const waits = (change: number): void => {
    waiting += change;
    metrics?.queued(name, change);
  };
  const queue = createWorkQueue<K>({
    clock,
    identity,
    backoff: defaultBackoff(clock, work.backoff, work.rateLimit),
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
  /** Why keys wait. */
  const causes = new Map<string, string>();

  const doOne = async (lease: Lease<K>): Promise<void> => {
    const { key, attempt } = lease;
    const object = identity(key);
    const cause = causes.get(object) ?? (attempt > 1 ? 'retry' : 'requeue');
    causes.delete(object);
    const startedAt = clock.monotonic();
    const done = metrics?.took?.(name, () => (clock.monotonic() - startedAt) / 1_000);
    const report = (result: ReconcileOutcome, err?: unknown): void => {
      const tookMs = clock.monotonic() - startedAt;
      done?.();
      metrics?.reconciled(name, result, tookMs / 1_000, err);
      const fields = {
        object,
        cause,
        attempt,
        durationMs: Math.round(tookMs),
        result,
        ...(err === undefined ? {} : { err }),
      };
      if (result === 'terminal') log.error(fields, 'reconcile failed for good');
      else if (result !== 'retry') log.info(fields, 'reconciled');
      else if (signal.aborted || (attempt <= racesLost && isLostRace(err))) log.debug(fields, 'reconcile failed');
      else log.warn(fields, 'reconcile failed');
    };
    try {
      const result = await work.reconcile(key);
      const outcome = result ? { afterMs: finite(result.requeueAfterMs) } : 'done';
      report(result ? 'requeue' : 'done');
      lease.settle(outcome);
    } catch (error) {
      const terminal = isTerminal(error);
      try {
        report(terminal ? 'terminal' : 'retry', error);
      } catch {
        // Anything may be thrown, also what fails when it is looked at. That is the trouble of this key alone.
        log.warn({ object, cause, attempt }, 'reconcile failed with what cannot be told');
      }
      lease.settle(terminal ? 'done' : 'retry');
    }
  };

  signal.addEventListener('abort', () => queue.shutDown(), { once: true });
  try {
    work.start((key, cause, delayMs = 0) => {
      if (delayMs > 0) {
        queue.add(key, delayMs);
        return;
      }
      const object = identity(key);
      if (!causes.has(object)) causes.set(object, cause);
      queue.add(key);
    });
    await Promise.all(Array.from({ length: work.concurrency ?? 1 }, () => drain(queue, signal, doOne)));
  } finally {
    // What still waits is taken by nobody.
    waits(-waiting);
  }
}

/** So often in a row a race may be lost without a warning: who reads the object fresh wins before long. */
const racesLost = 3;

/** Did somebody else write first? That another manager owns what is applied is no race: it stays so. */
const isLostRace = (error: unknown): boolean =>
  isReason(error, 'Conflict') && !error.details?.causes?.some(({ reason }) => reason === 'FieldManagerConflict');

/** A time that is none would be due at once, again and again. */
function finite(requeueAfterMs: number): number {
  if (Number.isFinite(requeueAfterMs)) return Math.max(1, requeueAfterMs);
  throw new Error(`reconcile said requeueAfterMs: ${requeueAfterMs}, which is not a finite number`);
}

/** Works through a queue until it is shut down or the signal aborts. */
export async function drain<K>(
  queue: WorkQueue<K>,
  signal: AbortSignal,
  work: (lease: Lease<K>) => Promise<void>,
): Promise<void> {
  for (let lease = await queue.take(); lease !== undefined && !signal.aborted; lease = await queue.take()) {
    await work(lease);
  }
}
