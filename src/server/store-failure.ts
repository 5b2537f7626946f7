import type { Clock } from '../runtime/clock.js';
import { type Store, StoreClosed } from '../store/store.js';

/** The delay in milliseconds before a stream is restarted that ended for another reason. */
const retryMs = 1_000;
/** The key that health checks read; it never exists. */
const nothing = 'health';

/**
 * Resolves with the reason when a store has failed permanently; with undefined once the signal aborts or the store is
 * closed normally.
 */
export async function storeFailure(options: {
  readonly store: Store;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}): Promise<StoreClosed | undefined> {
  const { store, clock, signal } = options;
  while (!signal.aborted) {
    try {
      const revision = await store.revision();
      await new Promise<void>((complete, error) => store.changes(nothing, revision).subscribe({ complete, error }));
      return undefined;
    } catch (error) {
      if (error instanceof StoreClosed && !signal.aborted) return error;
      await clock.sleep(retryMs, signal);
    }
  }
  return undefined;
}
