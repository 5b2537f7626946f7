import { systemClock } from './clock.js';

/** Signals within this time count as one: on Ctrl-C npm forwards the signal that the terminal has already sent to the program. */
const oneSignalMs = 500;
const signals = ['SIGTERM', 'SIGINT'] as const;

/**
 * Returns a signal for programs that aborts at the first SIGTERM or SIGINT; a second one ends the process immediately.
 */
export function stopOnSignals(): AbortSignal {
  const stop = new AbortController();
  let first: number | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    const now = systemClock.monotonic();
    first ??= now;
    stop.abort();
    if (now - first < oneSignalMs) return;
    // Without a listener, the signal has its default effect.
    for (const each of signals) process.off(each, onSignal);
    process.kill(process.pid, signal);
  };
  for (const signal of signals) process.on(signal, onSignal);
  return stop.signal;
}
