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

/** A record as `encodeRecord` makes it, and the revision it stands for. */
export interface EncodedRecord {
  readonly revision: Revision;
  readonly bytes: Buffer;
}

/**
 * A file of fixed size in which records are durable before the database has them.
 *
 * A synced write to a log is dear because the log grows, and the file system has to note its new length. This file never
 * does: it is filled with zeros when it is opened and then written over and over. It has two halves, and in each stands,
 * from its beginning,
 *
 *     revision 8 | length 4 | record
 *
 * again and again, each revision one more than the last. Zeros, or what does not follow, end a half. While one half
 * fills, the database is given what is in the other.
 */
export interface Journal {
  /** Whether these records fit into one append. */
  fits(added: readonly EncodedRecord[]): boolean;
  /**
   * Durable when it resolves. One at a time. Before records are written over, `kept` is awaited with the last of them.
   * @throws the system's errors, after which nothing must be appended
   */
  append(added: readonly EncodedRecord[], kept: (last: Revision) => Promise<void>): Promise<void>;
  /** Begins anew: everything in it may be written over. */
  restart(): void;
  close(): void;
}

export const journalName = 'JOURNAL';
/** The length of the header before each record. */
const prefixLength = 8 + 4;
const end = Buffer.alloc(prefixLength);
/** Elsewhere this flag is missing, or does not reach through the disk's own cache as libuv's `fdatasync` does. */
const writesAreSynced = process.platform === 'linux';

/**
 * What is in the journal of a directory: the records of each half that has any, without a gap; the older half first.
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
 * Opens the journal of a directory to be written from its beginning: what is in it must be in the database. A new file is
 * durable, and its place in the directory is not.
 * @throws the system's errors
 */
export function openJournal(directory: string, size: number): Journal {
  const half = Math.floor(size / 2);
  const path = join(directory, journalName);
  // What a write cut short has left behind a record that is not whole must never follow one of a later opening.
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
    async append(added, kept) {
      const length = encodedLength(added);
      if (at + length > half) {
        await kept(newestOfOther);
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
