import {
  closeSync,
  constants,
  existsSync,
  fdatasync,
  openSync,
  readFileSync,
  statSync,
  write,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Revision } from '../store.js';
import { decodeRecord } from './record.js';

/** An encoded record (see `encodeRecord`) and its revision. */
export interface EncodedRecord {
  readonly revision: Revision;
  readonly bytes: Buffer;
}

/**
 * A file of fixed size that makes records durable before they are in the database.
 *
 * A synced write to a growing log is slow, because the file system has to record the new length. This file never grows:
 * it is filled with zeros when it is opened and then overwritten again and again. It has two halves. Each contains,
 * from its beginning, any number of
 *
 *     revision 8 | length 4 | record
 *
 * with consecutive revisions. Zeros, or a record that does not follow, end a half. While one half fills, the records of
 * the other are written to the database.
 */
export interface Journal {
  /** Whether these records fit into one append. */
  fits(added: readonly EncodedRecord[]): boolean;
  /**
   * Resolves when the records are durable. Only one call at a time. Before earlier records are overwritten, awaits
   * `ensureSaved` with the last revision of those.
   * @throws the system's errors, after which nothing may be appended
   */
  append(added: readonly EncodedRecord[], ensureSaved: (last: Revision) => Promise<void>): Promise<void>;
  /** Starts from the beginning again: everything in the journal may be overwritten. */
  restart(): void;
  close(): void;
}

export const journalName = 'JOURNAL';
/** The length of the header before each record. */
const prefixLength = 8 + 4;
const end = Buffer.alloc(prefixLength);
/**
 * Whether the file is opened with O_DSYNC. Other systems lack that flag, or it does not flush the disk's own cache as
 * libuv's `fdatasync` does.
 */
const writesAreSynced = process.platform === 'linux';

/**
 * Returns what is in the journal of a directory: the records of each half that has any, without a gap; the older half
 * first.
 * @throws the system's errors
 */
export function readJournal(directory: string): readonly (readonly EncodedRecord[])[] {
  const path = join(directory, journalName);
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  const half = Math.floor(bytes.length / 2);
  const [first, second] = [recordsIn(bytes.subarray(0, half)), recordsIn(bytes.subarray(half))];
  return (lastOf(first) < lastOf(second) ? [first, second] : [second, first]).filter(({ length }) => length > 0);
}

function recordsIn(half: Buffer): readonly EncodedRecord[] {
  const found: EncodedRecord[] = [];
  let at = 0;
  while (at + prefixLength <= half.length) {
    const revision = half.readBigUInt64BE(at);
    const bytes = half.subarray(at + prefixLength, at + prefixLength + half.readUInt32BE(at + 8));
    if (found.length > 0 && revision !== lastOf(found) + 1n) break;
    if (decodeRecord(revision, bytes) === undefined) break;
    found.push({ revision, bytes });
    at += prefixLength + bytes.length;
  }
  return found;
}

/**
 * Opens the journal of a directory to be written from its beginning. The records in it must already be in the database.
 * A new file is durable, but its directory entry is not.
 * @throws the system's errors
 */
export function openJournal(directory: string, size: number): Journal {
  const half = Math.floor(size / 2);
  const path = join(directory, journalName);
  // An interrupted write may leave records behind an incomplete one; they must never follow a record of a later
  // opening.
  const isThere = existsSync(path) && statSync(path).size === half * 2;
  writeFileSync(path, Buffer.alloc(half * 2), { flag: isThere ? 'r+' : 'w', flush: true });
  const file = openSync(path, constants.O_WRONLY | (writesAreSynced ? constants.O_DSYNC : 0));
  let start = 0;
  let at = 0;
  let newest: Revision = 0n;
  /** The last revision in the half that is not being filled. */
  let newestOfOther: Revision = 0n;
  return {
    fits: (added) => encodedLength(added) <= half,
    async append(added, ensureSaved) {
      const length = encodedLength(added);
      if (at + length > half) {
        await ensureSaved(newestOfOther);
        newestOfOther = newest;
        start = half - start;
        at = 0;
      }
      await writeSynced(file, encode(added), start + at);
      // The next records replace what ends these.
      at += length - end.length;
      newest = lastOf(added);
    },
    restart() {
      at = 0;
      newestOfOther = 0n;
    },
    close: () => closeSync(file),
  };
}

const lastOf = (records: readonly EncodedRecord[]): Revision => records.at(-1)?.revision ?? 0n;

const encodedLength = (records: readonly EncodedRecord[]): number =>
  records.reduce((sum, { bytes }) => sum + prefixLength + bytes.length, end.length);

function encode(records: readonly EncodedRecord[]): Buffer {
  const parts = records.flatMap(({ revision, bytes }) => {
    const prefix = Buffer.alloc(prefixLength);
    prefix.writeBigUInt64BE(revision);
    prefix.writeUInt32BE(bytes.length, 8);
    return [prefix, bytes];
  });
  return Buffer.concat([...parts, end]);
}

const writeAt = promisify(write);
const sync = promisify(fdatasync);

async function writeSynced(file: number, bytes: Buffer, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await writeAt(file, bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
  if (!writesAreSynced) await sync(file);
}
