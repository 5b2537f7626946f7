import { CertificateLedgerEntries } from '../api/kinds/certificate-ledger-entry.js';
import { isObject, type Json, member } from '../api/object.js';
import { storagePrefix } from '../registry/keys.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { runInTurns } from '../runtime/turn-taking.js';
import { type Entry, type Store, StoreClosed, WriteConflict } from '../store/store.js';

const hourMs = 3_600_000;
/** The number of entries that are read at a time; at least 2. */
const pageSize = 50;

interface RetentionOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long a record is kept after its certificate has expired, in milliseconds. */
  readonly retentionMs: number;
  readonly signal: AbortSignal;
}

/**
 * Removes old entries of the certificate ledger, every hour: from the oldest on, up to the first with a certificate that
 * has not been expired for long enough. The last entry stays, because the next one continues it. Several servers with
 * one store may do so at the same time. Resolves when the signal aborts.
 */
export async function removeOldLedgerEntries(options: RetentionOptions): Promise<void> {
  const { clock, log, signal } = options;
  while (!signal.aborted) {
    try {
      const removed = await removeOldest(options);
      if (removed > 0)
        log.info({ entries: removed }, 'removed entries of the certificate ledger that are older than its retention');
    } catch (error) {
      if (signal.aborted || error instanceof StoreClosed) return;
      log.warn({ err: error }, 'could not remove old entries of the certificate ledger; trying again in an hour');
    }
    await clock.sleep(hourMs, signal);
  }
}

/** Returns the number of removed entries. */
async function removeOldest({ store, clock, retentionMs, signal }: RetentionOptions): Promise<number> {
  const before = clock.now() - retentionMs;
  let removed = 0;
  for (;;) {
    const page = await store.scan(storagePrefix(CertificateLedgerEntries), { limit: pageSize, tolerant: true });
    const allButLast = page.entries.slice(0, -1);
    if (allButLast.length === 0) return removed;
    for (const entry of allButLast) {
      if (signal.aborted || !(await isOld(entry, before))) return removed;
      if (await remove(store, entry)) removed++;
    }
  }
}

/** Whether all certificates in an entry expired before a time. Throws if the entry cannot be read. */
async function isOld(entry: Entry, before: number): Promise<boolean> {
  const spec = (await runInTurns(entry.member('spec'))) ?? null;
  const records = isObject(spec) ? member(spec, 'records') : undefined;
  return Array.isArray(records) && records.every((record) => expiryOf(record) < before);
}

/** Returns the time at which a record's certificate expires; NaN if it has none. */
const expiryOf = (record: Json): number =>
  isObject(record) ? Date.parse(String(member(record, 'notAfter'))) : Number.NaN;

/** Removes an entry. Returns false if another server has done so. */
async function remove(store: Store, { key, revision }: Entry): Promise<boolean> {
  try {
    await store.commit({ key, document: undefined, expect: revision });
    return true;
  } catch (error) {
    if (error instanceof WriteConflict) return false;
    throw error;
  }
}
