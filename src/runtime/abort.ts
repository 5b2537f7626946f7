import { setMaxListeners } from 'node:events';
import type { Clock } from './clock.js';

/** Thrown when an operation takes longer than its time limit. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/** The reason of aborts whose reason is not read: without one, each abort creates a DOMException with a stack. */
export const noLongerNeeded = new Error('no longer needed');

/** The checks of each signal, which throw if it should have aborted by now. */
const due = new WeakMap<AbortSignal, () => void>();

/**
 * Registers a check for a signal that a timer aborts. After a process was suspended, pending events run before the timer
 * does; `check` throws if the deadline has passed.
 */
export const registerDueCheck = (signal: AbortSignal, check: () => void): void => void due.set(signal, check);

/** Throws if the deadline of the signal has passed, even if its timer has not run yet. */
export const throwIfDue = (signal: AbortSignal): void => due.get(signal)?.();

/** Makes `throwIfDue` of a signal also check the signals that it follows. */
export function linkDueChecks(signal: AbortSignal, others: readonly AbortSignal[]): void {
  const checks = others.flatMap((other) => due.get(other) ?? []);
  if (checks.length > 0) registerDueCheck(signal, () => checks.forEach((check) => void check()));
}

/**
 * Calls the listener when the signal aborts. Returns a function that removes it, which the option `signal` of
 * `addEventListener` does not do reliably: Node.js forgets it in a garbage collection, and the listener stays.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}

/** Resolves once the signal has aborted. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/**
 * Runs a function with a time limit. The signal it gets aborts when the time is over or one of `signals` aborts;
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

/** A time limit. */
export interface TimeoutOptions {
  readonly clock: Clock;
  readonly milliseconds: number;
  /** Signals that end the operation early when they abort. */
  readonly signals: readonly AbortSignal[];
}

/**
 * Returns a signal that aborts with a TimeoutError when the time is over, or with the reason of the first of `signals` that
 * aborts. Throws the reason of one that has already aborted.
 */
export function timeoutSignal({ clock, milliseconds, signals }: TimeoutOptions): {
  readonly signal: AbortSignal;
  /** Must be called: until then the timer and the other signals are listened to. Aborts the signal if a reason is given. */
  end(reason?: unknown): void;
} {
  for (const signal of signals) signal.throwIfAborted();
  const timeout = new AbortController();
  const ended = new AbortController();
  const stop = ({ target }: Event): void => timeout.abort((target as AbortSignal).reason);
  for (const signal of signals) {
    // Any number of operations may listen to one signal at a time; each of them removes its listener.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', stop, { once: true });
  }
  linkDueChecks(timeout.signal, signals);
  void clock.sleep(milliseconds, ended.signal).then(() => {
    if (!ended.signal.aborted) timeout.abort(new TimeoutError(`not done within ${milliseconds} ms`));
  });
  return {
    signal: timeout.signal,
    end(reason) {
      ended.abort(noLongerNeeded);
      for (const signal of signals) signal.removeEventListener('abort', stop);
      if (reason !== undefined) timeout.abort(reason);
    },
  };
}

/** Returns the outcome of `work`, or undefined if the time is over first. The work itself continues. */
export async function raceTimeout<T>(clock: Clock, milliseconds: number, work: Promise<T>): Promise<T | undefined> {
  const ended = new AbortController();
  const late = clock.sleep(milliseconds, ended.signal).then(() => undefined);
  return Promise.race([work, late]).finally(() => ended.abort(noLongerNeeded));
}

/** Returns the outcome of `work`, which cannot be cancelled; rejects with the signal's reason if that aborts first. */
export async function raceAbort<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (signal === undefined) return work;
  signal.throwIfAborted();
  let stopListening = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stopListening = onAbort(signal, () => reject(signal.reason));
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    stopListening();
  }
}

const rejection = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
