import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, systemClock } from '../../runtime/clock.js';
import { type Logger, silentLogger } from '../../runtime/logger.js';
import { atRevision, StoredEntry, UnreadEntry, unpooled } from '../document.js';
import { decryptDocument, type Encryption, needsRewrite, ResourceEncryption } from '../encryption/encryption.js';
import { FanOut } from '../fan-out.js';
import type { HistoryLimits, WrittenChange } from '../history.js';
import {
  type ChangeStream,
  type Entry,
  type Revision,
  type Scan,
  type ScanOptions,
  type Store,
  StoreClosed,
  type Write,
} from '../store.js';
import { VersionedMap } from '../versioned-map.js';
import { changeOf, checkExpectation, checkWrite } from '../write.js';
import { openRecordLog } from './open-record-log.js';
import type { LogMark, LogRecord } from './record.js';
import type { RecordLog } from './record-log.js';

export interface LevelStoreOptions extends HistoryLimits {
  readonly clock?: Clock;
  readonly log?: Logger;
  /** The interval of progress reports in streams without changes, in milliseconds; default 5 seconds. */
  readonly progressMs?: number;
  /** If the directory holds no store yet, revisions begin after this one. Default 0. */
  readonly after?: Revision;
  /** Fail if the directory holds no store, instead of creating one. */
  readonly mustExist?: boolean;
  /** The size of the journal in bytes; default 4 MiB. */
  readonly journalSize?: number;
  /** The encryption of documents on disk. Default: none. */
  readonly encryption?: Encryption;
  /** Wraps the log on disk, for tests that make it fail. */
  readonly wrapLog?: (log: RecordLog) => RecordLog;
}

/** The maximum number of writes, and of bytes beyond the first write, in one durable step. */
const writesAtOnce = 1_024;
const bytesAtOnce = 8 * 1_048_576;
/** The maximum number of changes that left the history and are removed in one durable step. */
const removalsAtOnce = 2_048;

/** A change that has a revision and waits for the disk. */
interface PendingWrite {
  readonly change: WrittenChange;
  /** The stored form of the document; empty for a deletion. */
  readonly kept: Buffer;
  readonly at: number;
  resolve(): void;
  reject(error: Error): void;
}

/**
 * The embedded durable store: LevelDB and a journal in one directory, used by one process at a time.
 *
 * Reads never touch the disk. All entries and the recent history are in memory, in the same `VersionedMap` that the
 * memory store uses, so that both give the same guarantees. The disk holds one checksummed record per revision and
 * nothing else, and opening the store replays the records in order. That makes the check at opening complete (every
 * revision after the mark of compaction must be there, and match its checksum), and it restores the history, so that
 * watches continue after a restart. The price is memory: everything stored must fit.
 *
 * Writes are batched: those that arrive while a batch is written to disk form the next one. A write becomes visible, is
 * published and is acknowledged only after its batch is synced, in this order. A write to a key that has another write
 * in progress waits for its outcome. Once a batch fails, nothing is written any more (the content of the disk is
 * unknown, and a second fsync may report success wrongly); every later call fails with StoreClosed until the directory
 * is opened again.
 *
 * Changes that leave the history are removed together with the mark that says so, in the batch of a later write, or in
 * a batch of their own once there are many.
 */
export class LevelStore implements Store {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #records: RecordLog;
  readonly #encryption: Encryption;
  readonly #map: VersionedMap;
  readonly #fanOut: FanOut;
  /** The keys with a write in progress, and a promise that settles (without an error) when its outcome is known. */
  readonly #busy = new Map<string, Promise<void>>();
  #queue: PendingWrite[] = [];
  #flushing: Promise<void> | undefined;
  /** The promise for the batch whose writers are being notified. */
  #acknowledging: Promise<void> | undefined;
  /** The last revision assigned. */
  #last: Revision;
  #mark: LogMark;
  /** Whether some entries could not be decrypted when the store was opened. */
  readonly #mayBeUnread: boolean;
  /** The changes that left the history and are still on disk. */
  #garbage: WrittenChange[];
  #failure: StoreClosed | undefined;
  #closing: Promise<void> | undefined;

  constructor(records: RecordLog, replayed: ReplayedLog, options: LevelStoreOptions) {
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log ?? silentLogger;
    this.#records = records;
    this.#encryption = options.encryption ?? new ResourceEncryption();
    this.#map = replayed.map;
    this.#mark = replayed.mark;
    this.#garbage = replayed.garbage;
    this.#mayBeUnread = replayed.hasUnread;
    this.#last = replayed.map.history.newest;
    this.#fanOut = new FanOut(this.#map.history, options);
    this.#flushing = this.#flush();
  }

  async get(key: string): Promise<Entry | undefined> {
    this.#checkOpen();
    const entry = this.#map.get(key);
    if (entry instanceof UnreadEntry && !entry.isRead) await this.#readAgain([entry]);
    return entry;
  }

  async scan(prefix: string, options?: ScanOptions): Promise<Scan> {
    this.#checkOpen();
    const found = this.#map.scan(prefix, options);
    if (this.#mayBeUnread && options?.tolerant !== true) await this.#readAgain(found.entries);
    return found;
  }

  /** @throws ApiError (500) if one of them cannot be decrypted */
  async #readAgain(entries: readonly Entry[]): Promise<void> {
    const unread = entries.filter((entry) => entry instanceof UnreadEntry && !entry.isRead) as UnreadEntry[];
    if (unread.length === 0) return;
    await this.#encryption.prepare?.(unread);
    for (const entry of unread) entry.check();
  }

  async commit(write: Write): Promise<Entry> {
    this.#checkOpen();
    checkWrite(write);
    for (let busy = this.#busy.get(write.key); busy !== undefined; busy = this.#busy.get(write.key)) {
      await busy;
      this.#checkOpen();
    }
    const actual = this.#map.get(write.key);
    checkExpectation(write, actual);
    const { key } = write;
    const change = changeOf(write, actual, this.#last + 1n, this.#encryption.writesAs(key));
    const stored = change.type === 'put' ? this.#encryption.encrypt(key, change.entry.bytes) : Buffer.alloc(0);
    this.#last = change.entry.revision;
    const durable = new Promise<void>((resolve, reject) => {
      this.#queue.push({ change, kept: stored, at: this.#clock.now(), resolve, reject });
    });
    const decided = durable.catch(() => {}).then(() => void this.#busy.delete(key));
    this.#busy.set(key, decided);
    this.#flushing ??= this.#flush();
    await durable;
    return change.entry;
  }

  changes(prefix: string, after: Revision): ChangeStream {
    return this.#fanOut.changes(prefix, after);
  }

  async revision(): Promise<Revision> {
    this.#checkOpen();
    return this.#map.history.newest;
  }

  isStale(entry: Entry): boolean {
    return needsRewrite(this.#encryption, entry);
  }

  size(): Promise<number> {
    return this.#records.size();
  }

  /** Resolves when every write in progress has an outcome and the directory is free for another process. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Compacts the history up to a revision now; for tests. */
  async compact(revision: Revision): Promise<void> {
    this.#checkOpen();
    this.#garbage.push(...this.#map.compact(revision));
  }

  async #close(): Promise<void> {
    this.#fanOut.close(this.#failure);
    await this.#flushing;
    await this.#acknowledging;
    await this.#records.close();
  }

  async #flush(): Promise<void> {
    // Writers that arrive in the same turn of the event loop share the first batch.
    await Promise.resolve();
    while (this.#failure === undefined && (this.#queue.length > 0 || this.#garbage.length >= removalsAtOnce)) {
      const batch = this.#takeBatch();
      const removal = takeRemoval(this.#garbage, this.#mark);
      try {
        const added = batch.map(({ change, kept, at }) => ({
          revision: change.entry.revision,
          record: recordOf(change, kept, at),
        }));
        await this.#records.write({ added, ...removal });
      } catch (error) {
        this.#fail(error, batch);
        break;
      }
      this.#mark = removal.mark;
      for (const { change, at } of batch) {
        this.#garbage.push(...this.#map.apply(change, at));
        this.#fanOut.deliver();
      }
      this.#acknowledging = this.#acknowledge(batch);
    }
    this.#flushing = undefined;
  }

  /**
   * Notifies the writers in the turn after subscribers were called, so that responses to writers do not delay the
   * subscribers.
   */
  async #acknowledge(batch: readonly PendingWrite[]): Promise<void> {
    await nextTurn();
    for (const { resolve } of batch) resolve();
    const last = batch.at(-1);
    if (last !== undefined) this.#records.acknowledge(last.change.entry.revision);
  }

  #takeBatch(): readonly PendingWrite[] {
    let bytes = 0;
    const end = this.#queue.findIndex(({ kept }, index) => {
      bytes += kept.length;
      return index === writesAtOnce || (index > 0 && bytes > bytesAtOnce);
    });
    return this.#queue.splice(0, end === -1 ? this.#queue.length : end);
  }

  #fail(cause: unknown, batch: readonly PendingWrite[]): void {
    this.#log.error({ err: cause }, 'the store cannot write and was closed');
    this.#failure = new StoreClosed('the store could not write and was closed', { cause });
    for (const { reject } of [...batch, ...this.#queue.splice(0)]) reject(this.#failure);
    this.#fanOut.close(this.#failure);
  }

  #checkOpen(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#closing !== undefined) throw new StoreClosed('the store is closed');
  }
}

/** The result of replaying the log on disk. */
export interface ReplayedLog {
  readonly map: VersionedMap;
  readonly mark: LogMark;
  readonly garbage: WrittenChange[];
  readonly hasUnread: boolean;
}

/**
 * Opens the store in a directory, and creates the directory if there is none.
 * @throws StoreUnavailable if the directory is in use, cannot be used or is damaged
 */
export async function openLevelStore(directory: string, options: LevelStoreOptions = {}): Promise<LevelStore> {
  let map = new VersionedMap(0n, options);
  let mark: LogMark = { compacted: 0n, records: 0 };
  const garbage: WrittenChange[] = [];
  /** The entries that could not be decrypted on the first attempt. */
  const unread = new Set<UnreadEntry>();
  const { encryption = new ResourceEncryption() } = options;
  const reader = {
    mark(read: LogMark): void {
      mark = read;
      map = new VersionedMap(read.compacted, options);
    },
    record(revision: Revision, record: LogRecord): boolean {
      const change = changeFrom(revision, record, map.get(record.key), encryption);
      if (change === undefined) return false;
      for (const entry of [change.entry, change.previous]) if (entry instanceof UnreadEntry) unread.add(entry);
      if (revision > mark.compacted) garbage.push(...map.apply(change, record.at));
      else if (change.type === 'put' && change.previous === undefined) map.load(change.entry);
      else return false;
      return true;
    },
  };
  const records = await openRecordLog(directory, reader, { ...options, log: options.log ?? silentLogger });
  const fetching = encryption.prepare?.([...unread]);
  if (fetching !== undefined) {
    await fetching;
    for (const entry of unread) entry.isReadable();
  }
  const hasUnread = [...unread].some(({ isRead }) => !isRead);
  const replayed = { map, mark, garbage, hasUnread };
  return new LevelStore(options.wrapLog?.(records) ?? records, replayed, options);
}

const recordOf = ({ type, entry }: WrittenChange, stored: Buffer, at: number): LogRecord =>
  type === 'put'
    ? { type, key: entry.key, at, bytes: stored, revisionAt: entry.revisionAt }
    : { type, key: entry.key, at };

/** Returns the change that a record describes; undefined for the deletion of an absent key. */
function changeFrom(
  revision: Revision,
  record: LogRecord,
  previous: Entry | undefined,
  encryption: Encryption,
): WrittenChange | undefined {
  if (record.type === 'put') return { type: 'put', entry: entryFrom(revision, record, encryption), previous };
  return previous === undefined ? undefined : { type: 'delete', entry: atRevision(previous, revision), previous };
}

/** Returns an entry even if it cannot be decrypted: a key may come later, and the other entries must stay available. */
function entryFrom(
  revision: Revision,
  { key, bytes: kept, revisionAt }: LogRecord & { readonly type: 'put' },
  encryption: Encryption,
): Entry {
  const read = (): StoredEntry => {
    const { document, keptAs } = decryptDocument(encryption, key, kept);
    return new StoredEntry(key, revision, keptAs === '' ? document : unpooled(document), revisionAt, keptAs);
  };
  try {
    return read();
  } catch {
    return new UnreadEntry({ key, revision, revisionAt, kept }, read);
  }
}

/**
 * Takes the oldest of the changes that left the history, and returns the records no longer needed on disk: the values
 * they replaced, and the deletions themselves.
 */
function takeRemoval(
  garbage: WrittenChange[],
  mark: LogMark,
): { readonly removed: readonly Revision[]; readonly mark: LogMark } {
  const batch = garbage.splice(0, removalsAtOnce);
  const removed = batch.flatMap(({ type, entry, previous }) => [
    ...(previous === undefined ? [] : [previous.revision]),
    ...(type === 'delete' ? [entry.revision] : []),
  ]);
  const compacted = batch.at(-1)?.entry.revision ?? mark.compacted;
  return { removed, mark: { compacted, records: mark.records + batch.length - removed.length } };
}
