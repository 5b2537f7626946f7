import { systemClock } from './clock.js';

/** Signals that follow each other sooner are one: of Ctrl-C npm passes on what the terminal has told the program as well. */
const oneSignalMs = 500;
const signals = ['SIGTERM', 'SIGINT'] as const;

/** For programs: aborts at the first SIGTERM or SIGINT; a later one, of either, ends the process at once. */
export function stopOnSignals(): AbortSignal {
  const stop = new AbortController();
  let first: number | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    const now = systemClock.monotonic();
    first ??= now;
    stop.abort();
    if (now - first < oneSignalMs) return;
    // Without a listener it does what it does to any program.
    for (const each of signals) process.off(each, onSignal);
    process.kill(process.pid, signal);
  };
  for (const signal of signals) process.on(signal, onSignal);
  return stop.signal;
}
