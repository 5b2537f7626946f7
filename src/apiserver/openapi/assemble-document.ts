import type { Steps } from '../../api/steps.js';
import { newDocumentHash } from '../discovery.js';

/** Finished bytes, and when (milliseconds) they were made. */
export interface GeneratedBytes {
  readonly bytes: Buffer;
  readonly at: number;
}
/** With their hash, which is their ETag. */
export interface Document extends GeneratedBytes {
  readonly hash: string;
}

/** So many bytes are copied and hashed in a step. */
export const bytesInStep = 1_048_576;

/** The document that these pieces are. */
export function* assembleDocument(pieces: readonly Buffer[], at: number): Steps<Document> {
  const bytes = Buffer.allocUnsafe(pieces.reduce((sum, { length }) => sum + length, 0));
  const hash = newDocumentHash();
  let end = 0;
  let hashed = 0;
  for (const piece of pieces) {
    end += piece.copy(bytes, end);
    if (end - hashed < bytesInStep) continue;
    hash.add(bytes.subarray(hashed, end));
    hashed = end;
    yield;
  }
  hash.add(bytes.subarray(hashed));
  return { bytes, at, hash: hash.text() };
}
