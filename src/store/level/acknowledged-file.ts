import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Revision } from '../store.js';

/**
 * A file beside the database with the last revision that was acknowledged to a writer.
 *
 * LevelDB takes a damaged end of its log for a write that a crash interrupted, and drops it silently; the remaining
 * revisions are still contiguous. This file detects the loss. It is written after the writers of a durable batch were
 * notified, and never synced: after a crash it may hold an older revision. That is harmless, because the database is
 * then newer.
 */
export interface AcknowledgedFile {
  /**
   * The revision in the file; undefined if the file is new, empty or all zeros, as a crash of the machine may leave it.
   */
  readonly last: Revision | undefined | 'damaged';
  write(revision: Revision): void;
  close(): void;
}

const fileName = 'ACKNOWLEDGED';
const length = 12;

/** @throws the system's errors */
export function openAcknowledgedFile(directory: string): AcknowledgedFile {
  const path = join(directory, fileName);
  // 'a+' would ignore positions and 'r+' requires the file to exist, so it is created first.
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
