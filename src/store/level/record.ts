import { crc32 } from 'node:zlib';
import type { Revision } from '../store.js';

/**
 * The stored form of the change in one revision. The value begins with a checksum (CRC-32, big-endian) over the
 * revision and everything that follows, so that a record that was changed or moved to another revision is detected:
 *
 *     crc 4 | type 1 | time 6 | revisionAt 4 (signed) | key length 4 | key (UTF-8) | document
 */
export type LogRecord =
  | {
      readonly type: 'put';
      readonly key: string;
      readonly at: number;
      readonly bytes: Buffer;
      readonly revisionAt: number;
    }
  | { readonly type: 'delete'; readonly key: string; readonly at: number };

/**
 * The boundary between the history and older records. Up to revision `compacted` the log has `records` records, those
 * of the entries that existed then.
 */
export interface LogMark {
  readonly compacted: Revision;
  readonly records: number;
}

/** The first byte of the database keys of records; keys sort by revision. */
const recordSpace = 0x76;

/** The range of the database keys of all records. */
export const recordRange = { gte: Buffer.from([recordSpace]), lt: Buffer.from([recordSpace + 1]) };

/** The database key of the mark. */
export const markKey = Buffer.from('m');

const header = 4 + 1 + 6 + 4 + 4;
const types = { put: 1, delete: 2 };
const markVersion = 1;
const markLength = 4 + 1 + 8 + 8;

export function recordKey(revision: Revision): Buffer {
  const key = Buffer.alloc(9, recordSpace);
  key.writeBigUInt64BE(revision, 1);
  return key;
}

/** Returns the revision of a database key; undefined if it is not the key of a record. */
export const revisionOf = (key: Buffer): Revision | undefined =>
  key.length === 9 && key[0] === recordSpace ? key.readBigUInt64BE(1) : undefined;

export function encodeRecord(revision: Revision, record: LogRecord): Buffer {
  const document = record.type === 'put' ? record.bytes : Buffer.alloc(0);
  const keyLength = Buffer.byteLength(record.key);
  const out = Buffer.allocUnsafe(header + keyLength + document.length);
  out[4] = types[record.type];
  out.writeUIntBE(Math.max(0, Math.trunc(record.at)), 5, 6);
  out.writeInt32BE(record.type === 'put' ? record.revisionAt : -1, 11);
  out.writeUInt32BE(keyLength, 15);
  out.write(record.key, header, 'utf8');
  document.copy(out, header + keyLength);
  out.writeUInt32BE(checksum(revision, out));
  return out;
}

/**
 * Decodes the record of a revision; undefined if the bytes are not what was written there. The document is a slice of
 * `bytes`.
 */
export function decodeRecord(revision: Revision, bytes: Buffer): LogRecord | undefined {
  if (bytes.length < header || bytes.readUInt32BE(0) !== checksum(revision, bytes)) return undefined;
  const at = bytes.readUIntBE(5, 6);
  const end = header + bytes.readUInt32BE(15);
  const key = bytes.toString('utf8', header, end);
  if (bytes[4] === types.delete) return { type: 'delete', key, at };
  if (bytes[4] !== types.put) return undefined;
  return { type: 'put', key, at, bytes: bytes.subarray(end), revisionAt: bytes.readInt32BE(11) };
}

export function encodeMark({ compacted, records }: LogMark): Buffer {
  const out = Buffer.alloc(markLength);
  out[4] = markVersion;
  out.writeBigUInt64BE(compacted, 5);
  out.writeBigUInt64BE(BigInt(records), 13);
  out.writeUInt32BE(checksum(0n, out));
  return out;
}

/** Decodes the mark; undefined if the bytes are not what was written. */
export function decodeMark(bytes: Buffer): LogMark | undefined {
  if (bytes.length !== markLength || bytes.readUInt32BE(0) !== checksum(0n, bytes)) return undefined;
  if (bytes[4] !== markVersion) return undefined;
  return { compacted: bytes.readBigUInt64BE(5), records: Number(bytes.readBigUInt64BE(13)) };
}

const checksum = (revision: Revision, value: Buffer): number =>
  crc32(value.subarray(4), Number(BigInt.asUintN(32, revision)));
