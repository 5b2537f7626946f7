import { setMaxListeners } from 'node:events';
import type { Client } from '../client/client.js';
import { withWarnings } from '../client/warnings.js';
import { aborted, linkDueChecks, raceTimeout } from '../runtime/abort.js';
import { type Clock, shutdownClock, systemClock } from '../runtime/clock.js';
import { type Logger, silentLogger } from '../runtime/logger.js';
import { clientUntil } from './client-until.js';
import type { Runnable } from './controller.js';
import type { ControllerMetrics } from './controller-metrics.js';
import { runnableLog } from './runnable-log.js';
import { SharedCaches, shareCaches } from './shared-cache.js';
import { type UnsyncedWatches, unsyncedWatches } from './watches.js';

/**
 * Throws an Error if two controllers have the same name, because their log lines and metrics could not be
 * distinguished.
 */
export function checkUniqueNames(runnables: readonly Runnable[]): void {
  const names = runnables.filter(({ isController }) => isController).map(({ name }) => name);
  const twin = names.find((name, at) => names.indexOf(name) !== at);
  if (twin !== undefined) throw new Error(`duplicate controller name ${twin}`);
}

/** Thrown when runnables did not stop within the grace period. They may still be working. */
export class RunnablesLeftBehind extends Error {
  override readonly name = 'RunnablesLeftBehind';
}

/** Returns the error that names the runnables that did not stop; `cause` is the failure that made them stop. */
export function leftBehindError(running: Iterable<Runnable>, graceMs: number, cause?: unknown): RunnablesLeftBehind {
  const names = Array.from(running, ({ name }) => name).join(', ');
  return new RunnablesLeftBehind(`${names} did not stop within ${graceMs} ms`, { cause });
}

/** Starts runnables together and stops them together. */
export interface Manager {
  /** Adds runnables. Throws an Error if the manager runs already, or would have two controllers with the same name. */
  add(...runnables: readonly Runnable[]): this;
  /**
   * Resolves once all runnables have stopped after the signal, for which it waits even with nothing to run; rejects if
   * one fails, after stopping the others. Runnables that have not stopped when the grace period is over are left
   * behind, and so are those that one of them reports as left behind: then rejects with RunnablesLeftBehind. May be
   * called once.
   */
  run(signal: AbortSignal): Promise<void>;
}

/** The dependencies that a manager passes to all runnables, and its grace period. */
export interface ManagerOptions {
  /**
   * One client for all runnables, or a function that returns one for each by its name, each with its own identity;
   * runnables inside `whileLeading` have that of the runnable `leader`. Calls of the runnables fail with the signal's
   * reason once they are to stop. Each warning of the server is logged once, unless the client has its own `onWarning`.
   */
  readonly client: Client | ((name: string) => Client);
  readonly log?: Logger | undefined;
  readonly clock?: Clock | undefined;
  readonly metrics?: ControllerMetrics | undefined;
  /**
   * The counter of watches that have not listed anything yet. A manager inside a runnable gets that of the runnable's
   * context, for probes of the outer one. Default: its own.
   */
  readonly unsynced?: UnsyncedWatches | undefined;
  /** The time to wait for runnables to stop, in milliseconds, by the given clock or the system's. Default 30,000. */
  readonly graceMs?: number;
}

/** Creates a manager without runnables: `add` them, then `run` it once. */
export function createManager(options: ManagerOptions): Manager {
  const { log = silentLogger, clock = systemClock, metrics, graceMs = 30_000, unsynced = unsyncedWatches() } = options;
  const runnables: Runnable[] = [];
  let started = false;
  const clientOf = clientsOf(options.client, log);

  const manager: Manager = {
    add(...more) {
      if (started) throw new Error('runnables cannot be added once the manager runs');
      checkUniqueNames([...runnables, ...more]);
      runnables.push(...more);
      return manager;
    },
    async run(signal) {
      if (started) throw new Error('a manager can run only once');
      started = true;
      if (runnables.length === 0) log.warn({}, 'no runnables');
      const run = (runnable: Runnable, signal: AbortSignal): Promise<void> => {
        const { name } = runnable;
        const client = clientOf(name, signal);
        return runnable.run({ client, log: runnableLog(name, log), clock, metrics, unsynced, signal });
      };
      await runTogether(runnables, run, { signal, clock, log, graceMs });
    },
  };
  return manager;
}

/**
 * Returns the function that makes the clients of runnables. Their calls fail once the signal aborts; runnables with the
 * same client share caches. Each warning of the server is logged once.
 */
function clientsOf(source: ManagerOptions['client'], log: Logger): (name: string, signal: AbortSignal) => Client {
  const warned = new Set<string>();
  const tellWarnings = (name: string, client: Client): Client =>
    withWarnings((warning) => {
      if (warned.has(warning)) return;
      if (warned.size >= warningsKept) warned.clear();
      warned.add(warning);
      log.warn({ runnable: name, warning }, 'warning from the server');
    }, client);
  const caches = new Map<Client, SharedCaches>();
  return (name, signal) => {
    const client = typeof source === 'function' ? source(name) : source;
    const until = clientUntil(signal, tellWarnings(name, client));
    const shared = caches.get(client) ?? new SharedCaches(until);
    caches.set(client, shared);
    return shareCaches(until, shared);
  };
}

/** The number of logged warnings that are remembered; it is bounded because warnings may contain names of objects. */
const warningsKept = 1_000;

/** Runs all runnables until the signal aborts or one of them fails, and stops the others. Fails as a manager does. */
async function runTogether(
  runnables: readonly Runnable[],
  run: (runnable: Runnable, signal: AbortSignal) => Promise<void>,
  {
    signal,
    clock,
    log,
    graceMs,
  }: { readonly signal: AbortSignal; readonly clock: Clock; readonly log: Logger; readonly graceMs: number },
): Promise<void> {
  const stop = new AbortController();
  // Every watch, queue and timer of every controller adds a listener to it.
  setMaxListeners(0, stop.signal);
  const abort = (): void => stop.abort();
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  linkDueChecks(stop.signal, [signal]);

  const running = new Set<Runnable>();
  const failures: unknown[] = [];
  const failed = (runnable: string, error: unknown): void => {
    const isLate = stop.signal.aborted && failures.length === 0;
    if (isLate && !(error instanceof RunnablesLeftBehind)) {
      if (error !== stop.signal.reason) log.warn({ runnable, err: error }, 'runnable failed while stopping');
      return;
    }
    failures.push(error);
    log.error({ runnable, err: error }, 'runnable failed');
    abort();
  };
  const all = Promise.all([
    // Without this, a manager without runnables would end immediately, as if it had been stopped.
    runnables.length === 0 ? untilAborted(stop.signal, clock) : undefined,
    ...runnables.map(async (runnable) => {
      running.add(runnable);
      try {
        await run(runnable, stop.signal);
      } catch (error) {
        failed(runnable.name, error);
      } finally {
        running.delete(runnable);
      }
    }),
  ]);
  await Promise.race([all, aborted(stop.signal)]);
  await raceTimeout(shutdownClock(clock), graceMs, all);
  signal.removeEventListener('abort', abort);
  if (running.size > 0) {
    log.warn({ runnables: Array.from(running, ({ name }) => name) }, 'runnables did not stop in time');
    throw leftBehindError(running, graceMs, failures[0]);
  }
  if (failures.length > 0) throw failures[0];
}

const dayMs = 86_400_000;

/** Waits with timers of the clock, which keep the program from exiting meanwhile. */
async function untilAborted(signal: AbortSignal, clock: Clock): Promise<void> {
  while (!signal.aborted) await clock.sleep(dayMs, signal);
}
