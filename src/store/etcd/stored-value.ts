import { StoredEntry, withRevision } from '../document.js';
import type { Document, Revision } from '../store.js';

/**
 * What is kept under a key in etcd. The revision of a write is known only after it, so the document is kept without its
 * digits, together with the place they belong; and with a random number that tells a writer whose connection broke
 * whether what is there now is what it wrote:
 *
 *     format 1 | nonce 8 | revisionAt 4 (signed) | document
 */
const format = 1;
const header = 1 + 8 + 4;

/** `nonce` is 8 random bytes. */
export function encodeValue({ bytes, revisionAt }: Document, nonce: Buffer): Buffer {
  const out = Buffer.allocUnsafe(header + bytes.length);
  out[0] = format;
  nonce.copy(out, 1, 0, 8);
  out.writeInt32BE(revisionAt, 9);
  bytes.copy(out, header);
  return out;
}

/** @throws Error naming the key, if the value was not written by `encodeValue` */
export function decodeEntry(key: string, revision: Revision, value: Buffer): StoredEntry {
  const revisionAt = value.length < header ? -2 : value.readInt32BE(9);
  if (value[0] !== format || revisionAt < -1 || revisionAt > value.length - header) {
    throw new Error(`what etcd holds for ${key} at revision ${revision} is not an entry of this store`);
  }
  const bytes = revisionAt === -1 ? Buffer.from(value.subarray(header)) : value.subarray(header);
  return new StoredEntry(key, revision, withRevision({ bytes, revisionAt }, revision), revisionAt);
}

/** What is no entry of this store, for those who have to go on without it: its value cannot be had. */
export class ForeignEntry extends StoredEntry {
  readonly #why: unknown;

  constructor(key: string, revision: Revision, why: unknown) {
    super(key, revision, Buffer.alloc(0), -1);
    this.#why = why;
  }

  override get value(): never {
    throw this.#why;
  }
}

export const hasNonce = (value: Buffer, nonce: Buffer): boolean => value.subarray(1, 9).equals(nonce);
