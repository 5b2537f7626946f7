import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../runtime/logger.js';
import type { Revision } from '../store.js';
import type { EtcdClient } from './etcd-client.js';
import { RevisionOutOfRange } from './etcd-failures.js';
import { endOfRange, type WatchResponse } from './messages.js';

/** Compaction of etcd's history. */

/** Compacts etcd's history. Does nothing if another client, or etcd itself, has already compacted further. */
export async function compactTo(client: EtcdClient, revision: bigint): Promise<void> {
  try {
    await client.compact(revision);
  } catch (error) {
    if (!(error instanceof RevisionOutOfRange && error.why === 'compacted')) throw error;
  }
}

interface Compaction {
  /** The key by which the servers agree on which of them compacts next. */
  readonly key: string;
  readonly everyMs: number;
  /** Returns the latest known revision. */
  heard(): Revision;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** The version of the key when this server last read it, and etcd's revision then. */
interface CompactionState {
  readonly version: bigint;
  readonly revision: Revision;
}

/**
 * In each interval, one of the servers compacts to the revision of one interval before. Resolves once the signal
 * aborts.
 */
export async function compactNowAndThen(client: EtcdClient, compaction: Compaction): Promise<void> {
  const { everyMs, clock, log, signal } = compaction;
  let seen: CompactionState = { version: 0n, revision: 0n };
  while (true) {
    await clock.sleep(everyMs, signal);
    if (signal.aborted) return;
    try {
      seen = await compactInTurn(client, compaction, seen);
    } catch (error) {
      log.warn({ err: error }, 'cannot compact etcd');
    }
  }
}

async function compactInTurn(
  client: EtcdClient,
  { key, heard }: Compaction,
  seen: CompactionState,
): Promise<CompactionState> {
  const { revision, succeeded, found } = await client.txn({
    compare: [{ key, target: 'version', equals: seen.version }],
    success: { put: { key, value: Buffer.from(String(heard())) } },
    failure: [{ range: { key } }],
  });
  if (!succeeded) return { version: found[0]?.version ?? 0n, revision };
  if (seen.revision > 0n) await compactTo(client, seen.revision);
  return { version: seen.version + 1n, revision };
}

/** Returns the revision that etcd's history is compacted to, if it is after `requested`; otherwise 0. */
export async function oldestKept(client: EtcdClient, key: string, requested: Revision): Promise<Revision> {
  try {
    // Revision 0 means the current one to etcd.
    await client.range({ key, revision: requested < 1n ? 1n : requested });
    return 0n;
  } catch (error) {
    if (!(error instanceof RevisionOutOfRange)) throw error;
    return error.why === 'future' ? 0n : compactedTo(client, key);
  }
}

/** Only a watch from before the compaction reports the compacted revision. */
function compactedTo(client: EtcdClient, key: string): Promise<Revision> {
  return new Promise((resolve, reject) => {
    const handlers = {
      response: ({ compactRevision }: WatchResponse): void => {
        if (compactRevision === 0n) return;
        stop();
        resolve(compactRevision);
      },
      ended: reject,
    };
    const stop = client.watch({ key, rangeEnd: endOfRange(key), startRevision: 1n }, handlers);
  });
}
