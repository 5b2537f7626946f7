import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../runtime/logger.js';
import type { Revision } from '../store.js';
import type { EtcdClient } from './etcd-client.js';
import { RevisionOutOfRange } from './etcd-failures.js';
import { endOfRange, type WatchResponse } from './messages.js';

/** Finds how far back the history of an etcd goes, and compacts it. */

/** Compacts etcd's history; somebody else, or etcd itself, may have gone further already. */
export async function compactTo(client: EtcdClient, revision: bigint): Promise<void> {
  try {
    await client.compact(revision);
  } catch (error) {
    if (!(error instanceof RevisionOutOfRange && error.why === 'compacted')) throw error;
  }
}

interface Compaction {
  /** The key by which the servers agree on whose turn it is. */
  readonly key: string;
  readonly everyMs: number;
  /** The latest revision that is known of. */
  heard(): Revision;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** The state of the key when a server last read it, and the revision of etcd then. */
interface Seen {
  readonly version: bigint;
  readonly revision: Revision;
}

/** Every interval one of the servers compacts to what the revision was an interval before. Resolves once it is aborted. */
export async function compactNowAndThen(client: EtcdClient, compaction: Compaction): Promise<void> {
  const { everyMs, clock, log, signal } = compaction;
  let seen: Seen = { version: 0n, revision: 0n };
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

async function compactInTurn(client: EtcdClient, { key, heard }: Compaction, seen: Seen): Promise<Seen> {
  const { revision, succeeded, found } = await client.txn({
    compare: [{ key, target: 'version', equals: seen.version }],
    success: { put: { key, value: Buffer.from(String(heard())) } },
    failure: [{ range: { key } }],
  });
  if (!succeeded) return { version: found[0]?.version ?? 0n, revision };
  if (seen.revision > 0n) await compactTo(client, seen.revision);
  return { version: seen.version + 1n, revision };
}

/** The revision etcd's history is compacted to, if that is after the one asked for; otherwise one before it. */
export async function oldestKept(client: EtcdClient, key: string, asked: Revision): Promise<Revision> {
  try {
    // Revision 0 means now to etcd.
    await client.range({ key, revision: asked < 1n ? 1n : asked });
    return 0n;
  } catch (error) {
    if (!(error instanceof RevisionOutOfRange)) throw error;
    return error.why === 'future' ? 0n : compactedTo(client, key);
  }
}

/** Only a watch from before the compaction is told how far it went. */
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
