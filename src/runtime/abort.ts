import { setMaxListeners } from 'node:events';
import type { Clock } from './clock.js';

/** What was waited for took too long. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/** For signals whose reason nobody reads: without one, each abort makes an error of its own, with a stack. */
export const noLongerNeeded = new Error('no longer needed');

/** What tells, by throwing, that a signal is due to abort. */
const due = new WeakMap<AbortSignal, () => void>();

/**
 * For a signal that aborts when a time is over: in a process that was suspended, what came meanwhile is acted on before the
 * timer has run. `check` throws if the time is over.
 */
export const registerDueCheck = (signal: AbortSignal, check: () => void): void => void due.set(signal, check);

/** Throws if the signal is due to abort, though nothing may have aborted it yet. */
export const throwIfDue = (signal: AbortSignal): void => due.get(signal)?.();

/** For a signal that aborts with others. */
export function linkDueChecks(signal: AbortSignal, others: readonly AbortSignal[]): void {
  const checks = others.flatMap((other) => due.get(other) ?? []);
  if (checks.length > 0) registerDueCheck(signal, () => checks.forEach((check) => void check()));
}

/** Resolves once the signal has aborted. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/**
 * Runs a function for so long at most. The signal it gets aborts when the time is over or one of `signals` aborts;
 * the function is not awaited after that. Rejects with TimeoutError, or with the reason of that signal.
 */
export async function withTimeout<T>(limits: TimeoutOptions, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { signal, end } = timeoutSignal(limits);
  try {
    return await Promise.race([run(signal), rejection(signal)]);
  } finally {
    end();
  }
}

/** How long something may take. */
export interface TimeoutOptions {
  readonly clock: Clock;
  readonly milliseconds: number;
  /** It ends before its time if one of them aborts. */
  readonly signals: readonly AbortSignal[];
}

/**
 * A signal that aborts with a TimeoutError when the time is over, or with the reason of one of `signals` that aborts.
 * Throws the reason of one that has aborted.
 */
export function timeoutSignal({ clock, milliseconds, signals }: TimeoutOptions): {
  readonly signal: AbortSignal;
  /** Must be called: until then the timer and the other signals are listened to. Aborts the signal if a reason is given. */
  end(reason?: unknown): void;
} {
  for (const signal of signals) signal.throwIfAborted();
  const over = new AbortController();
  const ended = new AbortController();
  const stop = ({ target }: Event): void => over.abort((target as AbortSignal).reason);
  for (const signal of signals) {
    // Any number may be limited by one signal at a time, and each of them stops listening.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', stop, { once: true });
  }
  linkDueChecks(over.signal, signals);
  void clock.sleep(milliseconds, ended.signal).then(() => {
    if (!ended.signal.aborted) over.abort(new TimeoutError(`not done within ${milliseconds} ms`));
  });
  return {
    signal: over.signal,
    end(reason) {
      ended.abort(noLongerNeeded);
      for (const signal of signals) signal.removeEventListener('abort', stop);
      if (reason !== undefined) over.abort(reason);
    },
  };
}

/** The outcome of some work, or undefined if there is none when the time is over. The work goes on. */
export async function raceTimeout<T>(clock: Clock, milliseconds: number, work: Promise<T>): Promise<T | undefined> {
  const ended = new AbortController();
  const late = clock.sleep(milliseconds, ended.signal).then(() => undefined);
  return Promise.race([work, late]).finally(() => ended.abort(noLongerNeeded));
}

/** The outcome of some work that cannot be broken off, or the signal's reason if that comes first. */
export async function raceAbort<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (signal === undefined) return work;
  signal.throwIfAborted();
  const over = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: over.signal });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    over.abort(noLongerNeeded);
  }
}

const rejection = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
