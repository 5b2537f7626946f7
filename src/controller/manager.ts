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

/** Throws an Error for two controllers with one name: their log lines and metrics could not be told apart. */
export function checkUniqueNames(runnables: readonly Runnable[]): void {
  const names = runnables.filter(({ isController }) => isController).map(({ name }) => name);
  const twin = names.find((name, at) => names.indexOf(name) !== at);
  if (twin !== undefined) throw new Error(`duplicate controller name ${twin}`);
}

/** Runnables did not stop within the grace period, and may still be at work. */
export class RunnablesLeftBehind extends Error {
  override readonly name = 'RunnablesLeftBehind';
}

/** Returns the error that names the runnables that did not stop; `cause` is the failure because of which they had to. */
export function leftBehindError(running: Iterable<Runnable>, graceMs: number, cause?: unknown): RunnablesLeftBehind {
  const names = Array.from(running, ({ name }) => name).join(', ');
  return new RunnablesLeftBehind(`${names} did not stop within ${graceMs} ms`, { cause });
}

/** Starts runnables together and stops them together. */
export interface Manager {
  /** Throws an Error if it runs already, or would have two controllers of a name. */
  add(...runnables: readonly Runnable[]): this;
  /**
   * Resolves once all have stopped after the signal, for which it waits even with nothing to run; rejects if one fails,
   * after stopping the rest. Runnables that have not stopped when the grace period is over are left behind, and so are
   * those that one of them reports as left behind: rejects with RunnablesLeftBehind. May be called once.
   */
  run(signal: AbortSignal): Promise<void>;
}

/** What all runnables of a manager are given, and how long it waits for them. */
export interface ManagerOptions {
  /**
   * One client for all, or one per runnable by its name, each with its own identity; what runs inside `whileLeading` has
   * that of the runnable `leader`. What runnables get of it fails with the signal's reason once they are to stop. What the
   * server warns of is logged, each text once, unless the client has an `onWarning` of its own.
   */
  readonly client: Client | ((name: string) => Client);
  readonly log?: Logger | undefined;
  readonly clock?: Clock | undefined;
  readonly metrics?: ControllerMetrics | undefined;
  /**
   * Where it is counted which watches of its controllers have not listed anything yet; of a manager inside a runnable that
   * of the runnable's context, for probes of the outer one. Default: its own.
   */
  readonly unsynced?: UnsyncedWatches | undefined;
  /** How long to wait for runnables to stop, in milliseconds, by the clock or by that of the system. Default 30,000. */
  readonly graceMs?: number;
}

/** A manager with no runnables yet: `add` them, then `run` it once. */
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
    async run(given) {
      if (started) throw new Error('a manager can run only once');
      started = true;
      if (runnables.length === 0) log.warn({}, 'no runnables');
      const run = (runnable: Runnable, signal: AbortSignal): Promise<void> => {
        const { name } = runnable;
        const client = clientOf(name, signal);
        return runnable.run({ client, log: runnableLog(name, log), clock, metrics, unsynced, signal });
      };
      await runTogether(runnables, run, { signal: given, clock, log, graceMs });
    },
  };
  return manager;
}

/**
 * What runnables ask of the server is their own, and fails once the signal aborts; what they watch they share, if they
 * have one client. Warnings of the server are logged, each text once.
 */
function clientsOf(given: ManagerOptions['client'], log: Logger): (name: string, signal: AbortSignal) => Client {
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
    const client = typeof given === 'function' ? given(name) : given;
    const until = clientUntil(signal, tellWarnings(name, client));
    const shared = caches.get(client) ?? new SharedCaches(until);
    caches.set(client, shared);
    return shareCaches(until, shared);
  };
}

/** How many logged warnings are remembered: those that name objects are ever new. */
const warningsKept = 1_000;

/** Runs all until the signal aborts or one of them fails, and stops the rest. Fails as a manager does. */
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
  // Every watch, queue and timer of every controller listens to it.
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
    // A manager that ended at once would look as if all were well.
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
