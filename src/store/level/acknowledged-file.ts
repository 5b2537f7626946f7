import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Revision } from '../store.js';

/**
 * A file beside the database with the last revision that was acknowledged to a writer.
 *
 * LevelDB takes a damaged end of its log for a write that a crash cut short and drops it without a word; contiguous
 * revisions cannot show that either. This file can. It is written when the writers of a durable batch were told and never
 * synced: a crash may leave an older number, which is harmless, for the database is always at least as new.
 */
export interface AcknowledgedFile {
  /** What the file says; undefined if it is new, empty or all zeros, as a crash of the machine may leave it. */
  readonly last: Revision | undefined | 'damaged';
  write(revision: Revision): void;
  close(): void;
}

const fileName = 'ACKNOWLEDGED';
const length = 12;

/** @throws the system's errors */
export function openAcknowledgedFile(directory: string): AcknowledgedFile {
  const path = join(directory, fileName);
  // 'a+' would ignore positions and 'r+' wants the file to exist, so it is made first.
  closeSync(openSync(path, 'a'));
  const last = decode(readFileSync(path));
  const file = openSync(path, 'r+');
  return {
    last,
    write(revision) {
      const bytes = encode(revision);
      for (let at = 0; at < length; ) at += writeSync(file, bytes, at, length - at, at);
    },
    close: () => closeSync(file),
  };
}

function encode(revision: Revision): Buffer {
  const out = Buffer.alloc(length);
  out.writeBigUInt64BE(revision);
  out.writeUInt32BE(crc32(out.subarray(0, 8)), 8);
  return out;
}

function decode(bytes: Buffer): Revision | undefined | 'damaged' {
  if (bytes.every((byte) => byte === 0)) return undefined;
  if (bytes.length !== length || bytes.readUInt32BE(8) !== crc32(bytes.subarray(0, 8))) return 'damaged';
  return bytes.readBigUInt64BE(0);
}
