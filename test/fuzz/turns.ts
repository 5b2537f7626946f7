import { monitorEventLoopDelay } from 'node:perf_hooks';
import { watchBusy } from './busy.js';

/** Measures how long the event loop is blocked. */
export interface Turns {
  /**
   * Returns the longest time between two turns since the last call, in milliseconds, as long as this process was busy
   * in it.
   */
  longest(): number;
  /**
   * Returns the delays in the histogram of Node.js, in milliseconds; these include times when other processes kept the
   * machine busy.
   */
  histogram(): { readonly p50: number; readonly p99: number; readonly max: number };
  stop(): void;
}

export function watchTurns(): Turns {
  const histogram = monitorEventLoopDelay({ resolution: 10 });
  histogram.enable();
  let running = true;
  const busy = watchBusy();
  let longest = 0;
  const turn = (): void => {
    longest = Math.max(longest, busy());
    if (running) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    longest: () => {
      const found = longest;
      longest = 0;
      return found;
    },
    histogram: () => ({
      p50: histogram.percentile(50) / 1e6,
      p99: histogram.percentile(99) / 1e6,
      max: histogram.max / 1e6,
    }),
    stop: () => {
      running = false;
      histogram.disable();
    },
  };
}
