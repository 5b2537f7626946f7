import { StoredEntry, withRevision } from '../document.js';
import { decryptDocument, type Encryption } from '../encryption/encryption.js';
import type { Document } from '../store.js';
import type { KeyValue } from './messages.js';

/**
 * The value of a key in etcd. The revision of a write is known only after it, so the document is stored without the
 * digits of its revision, but with their offset, and with a random number by which a writer whose connection broke can
 * tell whether the present value is its own:
 *
 *     format 1 | nonce 8 | revisionAt 4 (signed) | document, encrypted or not
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

/** @throws Error naming the key, if `encodeValue` did not write the value, or if it cannot be decrypted */
export function decodeEntry(
  { key, modRevision: revision, value }: Pick<KeyValue, 'key' | 'modRevision' | 'value'>,
  encryption: Encryption,
): StoredEntry {
  const foreign = (): Error =>
    new Error(`the value in etcd of ${key} at revision ${revision} is not an entry of this store`);
  if (value[0] !== format || value.length < header) throw foreign();
  const revisionAt = value.readInt32BE(9);
  const { document, keptAs } = decryptDocument(encryption, key, documentIn(value));
  if (revisionAt < -1 || revisionAt > document.length) throw foreign();
  const bytes = revisionAt === -1 ? Buffer.from(document) : document;
  return new StoredEntry(key, revision, withRevision({ bytes, revisionAt }, revision), revisionAt, keptAs);
}

/** Returns the document in a value, encrypted or not. */
export const documentIn = (value: Buffer): Buffer => value.subarray(header);

export const hasNonce = (value: Buffer, nonce: Buffer): boolean => value.subarray(1, 9).equals(nonce);
