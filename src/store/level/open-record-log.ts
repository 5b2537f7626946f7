import { readdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Logger } from '../../runtime/logger.js';
import { makeDirectory } from '../../runtime/make-directory.js';
import { syncDirectory } from '../../runtime/sync-directory.js';
import type { Revision } from '../store.js';
import { StoreUnavailable } from '../store-unavailable.js';
import { type AcknowledgedFile, openAcknowledgedFile } from './acknowledged-file.js';
import { type Database, databaseExists, destroyDatabase, openDatabase } from './database.js';
import { type EncodedRecord, journalName, openJournal, readJournal } from './journal.js';
import { JournaledLog, writeSteps } from './journaled-log.js';
import {
  decodeMark,
  decodeRecord,
  encodeMark,
  type LogMark,
  type LogRecord,
  markKey,
  recordRange,
  revisionOf,
} from './record.js';
import type { RecordLog } from './record-log.js';

/** Receives the records on disk when a log is opened, in the order of revisions. */
export interface LogReader {
  /** Called once, first. */
  mark(mark: LogMark): void;
  /** Returns false if the record cannot follow the earlier ones. */
  record(revision: Revision, record: LogRecord): boolean;
}

export interface RecordLogOptions {
  readonly log: Logger;
  readonly mustExist?: boolean;
  /** The mark of a new log. Default 0. */
  readonly after?: Revision;
  /** The size of the journal in bytes; default 4 MiB. */
  readonly journalSize?: number;
}

const readAtOnce = 1_000;
const defaultJournalSize = 4 * 1_048_576;

/**
 * Opens the log in a directory and reads everything in it. Creates the directory, readable by its owner only, if there
 * is none.
 * @throws StoreUnavailable if the directory is in use, cannot be used, or holds anything but what was written to it
 */
export async function openRecordLog(
  directory: string,
  reader: LogReader,
  options: RecordLogOptions,
): Promise<RecordLog> {
  let database: Database | undefined;
  let acknowledged: AcknowledgedFile | undefined;
  try {
    if (options.mustExist === true && !(await databaseExists(directory)))
      throw new StoreUnavailable(`no store in ${directory}`);
    // The log contains secrets in plain text, unless they are encrypted.
    await makeDirectory(directory, { mode: 0o700 });
    await syncDirectory(dirname(resolve(directory)));
    acknowledged = openAcknowledgedFile(directory);
    database = await openOrMake(directory, acknowledged);
    const begin: LogMark = { compacted: options.after ?? 0n, records: 0 };
    const lastInDatabase = await readAll(database, reader, directory);
    if (lastInDatabase === undefined) reader.mark(begin);
    const recovered = readRest(directory, lastInDatabase ?? begin.compacted, reader);
    const last = recovered.at(-1)?.revision ?? lastInDatabase;
    checkAcknowledged(acknowledged, last, directory);
    if (lastInDatabase === undefined) await database.put(markKey, encodeMark(begin), { sync: true });
    await writeSteps(database, [{ added: recovered, removed: [], mark: undefined }]);
    // Before the journal is cleared, its records must be durable in the database; then the journal's own file must be
    // durable.
    await syncDirectory(directory);
    const journal = openJournal(directory, options.journalSize ?? defaultJournalSize);
    await syncDirectory(directory);
    return new JournaledLog({ database, journal, acknowledged, log: options.log });
  } catch (error) {
    acknowledged?.close();
    await database?.close().catch(() => {});
    throw error instanceof StoreUnavailable ? error : unavailable(directory, error);
  }
}

async function openOrMake(directory: string, { last }: AcknowledgedFile): Promise<Database> {
  // If its main file is missing, LevelDB would create a new database and remove the rest of the old one.
  if (last !== undefined) return openDatabase(directory, { mustExist: true });
  try {
    return await openDatabase(directory);
  } catch (error) {
    // LevelDB does not sync the first file that it creates, so a crash of the machine may leave one that it cannot
    // read.
    if (innermost(error).code !== 'LEVEL_CORRUPTION' || !(await wasNeverWritten(directory))) throw error;
    await destroyDatabase(directory);
    return openDatabase(directory);
  }
}

/** Whether the database was created and never written to: no journal, no table and empty logs. */
async function wasNeverWritten(directory: string): Promise<boolean> {
  const names = await readdir(directory);
  if (names.some((name) => name === journalName || /\.(?:ldb|sst)$/.test(name))) return false;
  const logs = names.filter((name) => name.endsWith('.log'));
  const found = await Promise.all(logs.map((name) => stat(join(directory, name))));
  return found.every(({ size }) => size === 0);
}

/**
 * Reads all records in the database and returns the last revision; returns undefined, without reading, if the database
 * is new.
 */
async function readAll(database: Database, reader: LogReader, directory: string): Promise<Revision | undefined> {
  const markBytes = await database.get(markKey);
  if (markBytes === undefined) {
    for await (const _ of database.keys({ limit: 1 })) throw damaged(directory, 'its first record is missing');
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
      // The next chunk is read while this one is checked. If this one is bad, the result of that read is ignored.
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

/**
 * Reads the records of the journal beyond the last revision of the database: they were durable when the process ended.
 */
function readRest(directory: string, lastInDatabase: Revision, reader: LogReader): readonly EncodedRecord[] {
  const later = readJournal(directory)
    .flat()
    .filter(({ revision }) => revision > lastInDatabase);
  let last = lastInDatabase;
  for (const { revision, bytes } of later) {
    if (revision !== ++last) throw damaged(directory, `revision ${last} is missing`);
    const record = decodeRecord(revision, bytes);
    if (record === undefined || !reader.record(revision, record))
      throw damaged(directory, `revision ${revision} does not follow from the ones before`);
  }
  return later;
}

function checkAcknowledged(file: AcknowledgedFile, last: Revision | undefined, directory: string): void {
  if (file.last === 'damaged') throw damaged(directory, 'the file with the last acknowledged revision was changed');
  if (file.last === undefined || file.last <= (last ?? 0n)) return;
  throw damaged(directory, `revision ${file.last} was acknowledged and is missing, the last one is ${last ?? 0n}`);
}

const damaged = (directory: string, problem: string): StoreUnavailable =>
  new StoreUnavailable(`the store in ${directory} is damaged: ${problem}`);

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
