import { Events } from '../api/kinds/event.js';
import { isObject, type Json, member } from '../api/object.js';
import { storagePrefix } from '../registry/keys.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { runInTurns, TurnTaking } from '../runtime/turn-taking.js';
import { UnreadEntry } from '../store/document.js';
import { type Entry, type Revision, type Store, StoreClosed, WriteConflict } from '../store/store.js';

/** The delay before everything is read again after a failure, in milliseconds. */
const retryMs = 1_000;
/** The maximum number of concurrent deletions. */
const atATime = 100;

interface ExpiryOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** The number of seconds for which an event is kept after its last write. */
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/** The time of the last write of an event, in milliseconds, and its revision then. */
interface LastWrite {
  readonly at: number;
  readonly revision: Revision;
}

/**
 * Deletes events some time after their last write, as kube-apiserver does (`--event-ttl`), without admission and
 * regardless of finalizers. Several servers with one store may do so at the same time. Resolves when the signal aborts.
 */
export async function expireEvents(options: ExpiryOptions): Promise<void> {
  const { clock, log, signal } = options;
  while (!signal.aborted) {
    try {
      await expireFollowing(options);
    } catch (error) {
      if (signal.aborted || error instanceof StoreClosed) return;
      log.warn({ err: error }, 'could not watch or delete expiring events; starting again');
      await clock.sleep(retryMs, signal);
    }
  }
}

async function expireFollowing({ store, clock, seconds, signal }: ExpiryOptions): Promise<void> {
  const prefix = storagePrefix(Events);
  const { entries, revision } = await store.scan(prefix, { tolerant: true });
  /** The events in the order in which they expire. */
  const known = new Map(await dated(entries, clock.now()));
  if (signal.aborted) return;
  const ended = new AbortController();
  const end = (): void => ended.abort();
  signal.addEventListener('abort', end, { once: true });
  let failure: unknown;
  let wake = (): void => {};
  const changes = store.changes(prefix, revision).subscribe({
    next: (change) => {
      if (change.type === 'progress') return;
      const { key } = change.entry;
      known.delete(key);
      if (change.type === 'put') known.set(key, { at: clock.now(), revision: change.entry.revision });
      wake();
    },
    error: (error: unknown) => {
      failure = error;
      end();
    },
    complete: end,
  });
  ended.signal.addEventListener('abort', () => wake(), { once: true });
  try {
    while (!ended.signal.aborted) {
      const [first] = known.values();
      if (first === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      const leftMs = first.at + seconds * 1_000 - clock.now();
      // Never longer than the lifetime of an event, because the clock may be behind for a while.
      if (leftMs > 0) await clock.sleep(Math.min(leftMs, seconds * 1_000), ended.signal);
      else await removeExpired(store, known, clock.now() - seconds * 1_000);
    }
  } finally {
    changes.unsubscribe();
    signal.removeEventListener('abort', end);
  }
  if (failure !== undefined) throw failure;
  if (!signal.aborted) throw new StoreClosed('the store was closed');
}

/** Removes some of the expired events. The watch updates those that have changed meanwhile. */
async function removeExpired(store: Store, known: Map<string, LastWrite>, before: number): Promise<void> {
  const expired: Promise<unknown>[] = [];
  for (const [key, { at, revision }] of known) {
    if (at > before || expired.length === atATime) break;
    known.delete(key);
    const removal = store.commit({ key, document: undefined, expect: revision });
    expired.push(
      removal.catch((error: unknown) => {
        if (!(error instanceof WriteConflict)) throw error;
      }),
    );
  }
  await Promise.all(expired);
}

/**
 * Returns entries with the time of their last write, oldest first. The time is at most `now`, and `now` for unreadable
 * entries.
 */
async function dated(entries: readonly Entry[], now: number): Promise<readonly (readonly [string, LastWrite])[]> {
  const turns = new TurnTaking();
  const found: [string, LastWrite][] = [];
  for (const entry of entries) {
    const { key, revision } = entry;
    const isReadable = !(entry instanceof UnreadEntry) || entry.isReadable();
    const at = isReadable ? lastWritten((await runInTurns(entry.member('metadata'), turns)) ?? null) : now;
    found.push([key, { at: Math.min(at, now), revision }]);
    if (turns.isDue) await turns.next();
  }
  return found.sort(([, a], [, b]) => a.at - b.at);
}

/** Returns the time of the last write according to what the server records: creationTimestamp and managedFields. */
function lastWritten(metadata: Json): number {
  if (!isObject(metadata)) return 0;
  const managers = member(metadata, 'managedFields');
  const times = [
    member(metadata, 'creationTimestamp'),
    ...(Array.isArray(managers) ? managers.map((one) => (isObject(one) ? member(one, 'time') : undefined)) : []),
  ];
  return Math.max(0, ...times.map((time) => (typeof time === 'string' ? Date.parse(time) || 0 : 0)));
}
