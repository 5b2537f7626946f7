import { once } from 'node:events';
import { stopOnSignals } from '../runtime/stop-on-signals.js';

/** Resolves at the first SIGTERM or SIGINT; a second signal of either kind ends the process at once. */
export async function untilStopped(): Promise<void> {
  await once(stopOnSignals(), 'abort');
}
