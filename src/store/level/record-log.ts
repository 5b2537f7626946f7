import { mkdir } from 'node:fs/promises';
import type { Logger } from '../../runtime/logger.js';
import type { Revision } from '../store.js';
import { StoreUnavailable } from '../store-unavailable.js';
import { type AcknowledgedFile, openAcknowledgedFile } from './acknowledged-file.js';
import { type Database, openDatabase } from './database.js';
import {
  decodeMark,
  decodeRecord,
  encodeMark,
  encodeRecord,
  type LogMark,
  type LogRecord,
  markKey,
  recordKey,
  recordRange,
  revisionOf,
} from './record.js';

/** What is added to and removed from the log in one step: all of it, or nothing. */
export interface LogStep {
  /** In the order of their revisions, which follow the last one. */
  readonly added: readonly { readonly revision: Revision; readonly record: LogRecord }[];
  readonly removed: readonly Revision[];
  /** What holds after the removal. */
  readonly mark: LogMark;
}

/** One checksummed record per revision, on disk. */
export interface RecordLog {
  /** Durable when it resolves. After a failure the log must not be written to again. */
  write(step: LogStep): Promise<void>;
  /** Notes up to where writers were told that their writes are durable. */
  acknowledge(revision: Revision): void;
  close(): Promise<void>;
}

/** What is on disk when a log is opened, in the order of revisions. */
export interface LogReader {
  /** Called once, first. */
  mark(mark: LogMark): void;
  /** Answers false if the record cannot be right where it is. */
  record(revision: Revision, record: LogRecord): boolean;
}

const readAtOnce = 1_000;

/**
 * Opens the log in a directory, which is made if there is none, and reads everything in it.
 * @throws StoreUnavailable if the directory is in use, cannot be used, or holds anything but what was written to it
 */
export async function openRecordLog(directory: string, reader: LogReader, log: Logger): Promise<RecordLog> {
  let database: Database | undefined;
  let acknowledged: AcknowledgedFile | undefined;
  try {
    await mkdir(directory, { recursive: true });
    acknowledged = openAcknowledgedFile(directory);
    // LevelDB would make a new database where its main file is gone, and remove what is left of the old one.
    database = await openDatabase(directory, { mustExist: acknowledged.last !== undefined });
    const last = await readAll(database, reader, directory);
    checkAcknowledged(acknowledged, last, directory);
    if (last === undefined) await database.put(markKey, encodeMark({ compacted: 0n, records: 0 }), { sync: true });
    return recordLog(database, acknowledged, log);
  } catch (error) {
    acknowledged?.close();
    await database?.close().catch(() => {});
    throw error instanceof StoreUnavailable ? error : unavailable(directory, error);
  }
}

function recordLog(database: Database, acknowledged: AcknowledgedFile, log: Logger): RecordLog {
  return {
    async write({ added, removed, mark }) {
      // Costs half of what an array of operations does.
      const batch = database.batch();
      for (const { revision, record } of added) batch.put(recordKey(revision), encodeRecord(revision, record));
      for (const revision of removed) batch.del(recordKey(revision));
      if (removed.length > 0 || mark.compacted > 0n) batch.put(markKey, encodeMark(mark));
      await batch.write({ sync: true });
    },
    acknowledge(revision) {
      try {
        acknowledged.write(revision);
      } catch (error) {
        log.warn({ error }, 'cannot note the last acknowledged revision');
      }
    },
    async close() {
      acknowledged.close();
      await database.close();
    },
  };
}

/** The last revision; undefined if the database is new. */
async function readAll(database: Database, reader: LogReader, directory: string): Promise<Revision | undefined> {
  const markBytes = await database.get(markKey);
  if (markBytes === undefined) {
    for await (const _ of database.keys({ limit: 1 })) throw damaged(directory, 'its first record is missing');
    reader.mark({ compacted: 0n, records: 0 });
    return undefined;
  }
  const mark = decodeMark(markBytes);
  if (mark === undefined) throw damaged(directory, 'its first record does not match its checksum');
  reader.mark(mark);
  let last = mark.compacted;
  let older = 0;
  const iterator = database.iterator({ ...recordRange, fillCache: false, highWaterMarkBytes: 4 * 1_048_576 });
  try {
    let coming = iterator.nextv(readAtOnce);
    for (let chunk = await coming; chunk.length > 0; chunk = await coming) {
      // The next chunk is read while this one is looked at; if this one is bad nobody asks how that went.
      coming = iterator.nextv(readAtOnce);
      coming.catch(() => {});
      for (const [key, value] of chunk) {
        const revision = revisionOf(key);
        if (revision === undefined) throw damaged(directory, `it holds the unknown key ${key.toString('hex')}`);
        if (revision <= mark.compacted) older++;
        else if (revision !== ++last) throw damaged(directory, `revision ${last} is missing`);
        const record = decodeRecord(revision, value);
        if (record === undefined) throw damaged(directory, `revision ${revision} does not match its checksum`);
        if (!reader.record(revision, record))
          throw damaged(directory, `revision ${revision} does not follow from the ones before`);
      }
    }
  } finally {
    await iterator.close();
  }
  if (older !== mark.records) {
    throw damaged(directory, `${mark.records} records up to revision ${mark.compacted} should be there, ${older} are`);
  }
  return last;
}

function checkAcknowledged(file: AcknowledgedFile, last: Revision | undefined, directory: string): void {
  if (file.last === 'damaged') throw damaged(directory, 'the file with the last acknowledged revision was changed');
  if (file.last === undefined || file.last <= (last ?? 0n)) return;
  throw damaged(directory, `revision ${file.last} was acknowledged and is missing, the last one is ${last ?? 0n}`);
}

const damaged = (directory: string, how: string): StoreUnavailable =>
  new StoreUnavailable(`the store in ${directory} is damaged: ${how}`);

function unavailable(directory: string, error: unknown): StoreUnavailable {
  const { code, message } = innermost(error);
  if (code === 'LEVEL_LOCKED') return new StoreUnavailable(`the store in ${directory} is in use by another process`);
  if (code === 'LEVEL_CORRUPTION') return damaged(directory, message);
  return new StoreUnavailable(`the store in ${directory} cannot be opened: ${message}`, { cause: error });
}

function innermost(error: unknown): { readonly code: string | undefined; readonly message: string } {
  if (!(error instanceof Error)) return { code: undefined, message: String(error) };
  if (error.cause instanceof Error) return innermost(error.cause);
  return { code: 'code' in error && typeof error.code === 'string' ? error.code : undefined, message: error.message };
}
