import { type ApiError, badRequest, expired, internalError, timeout, untyped } from '../api/errors.js';
import { quote } from '../api/go-text.js';
import { parseResourceVersion } from '../api/options.js';
import type { Clock } from '../runtime/clock.js';
import { HistoryCompacted, type Revision, RevisionInFuture, type Store } from '../store/store.js';

/** Parses resource versions in requests, waits for them, and returns the errors if they are unavailable. */

/** The time that a read waits for a future version, in milliseconds. */
const patience = 3_000;
const pollMs = { first: 25, most: 200 };

const tooLargeVersion = (
  requested: Revision,
  current: Revision,
  later: { readonly retryAfterSeconds?: number },
): ApiError =>
  timeout(`Too large resource version: ${requested}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    ...later,
  });

/**
 * Waits until the store has reached a revision. Throws Timeout after three seconds, or at once if the kind is not
 * cached.
 */
export async function waitForRevision(
  store: Store,
  requested: Revision,
  { clock, signal, uncached }: { readonly clock: Clock; readonly signal: AbortSignal; readonly uncached?: boolean },
): Promise<Revision> {
  const deadline = clock.monotonic() + patience;
  for (let pauseMs = pollMs.first; ; pauseMs = Math.min(2 * pauseMs, pollMs.most)) {
    const current = await store.revision();
    if (current >= requested) return current;
    if (uncached === true) throw tooLargeVersion(requested, current, {});
    if (clock.monotonic() >= deadline || signal.aborted)
      throw tooLargeVersion(requested, current, { retryAfterSeconds: 1 });
    await clock.sleep(Math.min(pauseMs, Math.ceil(deadline - clock.monotonic())), signal);
  }
}

/** Parses a resource version. A malformed one is a bad request on a list, an untyped 500 on get and watch. */
export function readResourceVersion(text: string, where: 'list' | 'get' | 'watch'): Revision {
  const version = parseResourceVersion(text);
  if (typeof version === 'bigint') return version;
  const complaint = `resourceVersion: Invalid value: ${quote(text)}: ${version.wrong}`;
  throw where === 'list' ? badRequest(`invalid resource version: ${complaint}`) : untyped(complaint);
}

/** Converts an error of the store about old or future revisions to the error of the API. */
export function storeFailure(error: unknown): unknown {
  if (error instanceof HistoryCompacted) return expired('The resourceVersion for the provided list is too old.');
  if (error instanceof RevisionInFuture) return internalError(error.message, error);
  return error;
}
