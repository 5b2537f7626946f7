import type { Observable } from 'rxjs';
import type { Json } from '../api/object.js';
import type { Steps } from '../api/steps.js';

/**
 * Position in the store's history; grows with every committed write, by one from 1 unless the backend counts the writes
 * of others, too.
 */
export type Revision = bigint;

/**
 * A JSON document with a place for its revision. The store inserts the decimal digits of the commit's
 * revision at byte `revisionAt`, so that stored bytes can go to a client as they are; -1 means nowhere.
 */
export interface Document {
  readonly bytes: Buffer;
  readonly revisionAt: number;
}

/** One committed value. Immutable: the same entry is handed to every reader, so its identity can key caches. */
export interface Entry {
  readonly key: string;
  readonly revision: Revision;
  /** Encoded JSON, the revision in place. Not to be written to. */
  readonly bytes: Buffer;
  /** The offset of the revision's digits in `bytes`; -1 if it has none. */
  readonly revisionAt: number;
  /** Names the provider and key that it is encrypted by where it is kept; absent if it is not encrypted. */
  readonly keptAs?: string;
  /** `bytes`, parsed when first asked for. Not to be changed. */
  readonly value: Json;
  /** `value`, in steps if it is large. */
  read(): Steps<Json>;
  /** A member of `value`, read without the others unless they have been read, in steps if it is large. Not to be changed. */
  member(name: string): Steps<Json | undefined>;
}

/** One entry put, replaced or deleted, if it is as it is expected to be. */
export interface Write {
  readonly key: string;
  /** undefined deletes. */
  readonly document: Document | undefined;
  /** The revision the entry must have now, or 'absent'. */
  readonly expect: Revision | 'absent';
}

/** Options of a scan: which entries below a prefix are read, and at which revision. */
export interface ScanOptions {
  /** Read as of this revision instead of now. Fails with HistoryCompacted, or RevisionInFuture. */
  readonly at?: Revision;
  /** Only keys greater than this one. */
  readonly after?: string;
  readonly limit?: number;
  /**
   * Foreign entries, and those that cannot be decrypted, do not make the scan fail. They are returned as entries that fail
   * when read and must not be shown.
   */
  readonly tolerant?: boolean;
}

/** The result of a scan. */
export interface Scan {
  /** In key order. */
  readonly entries: readonly Entry[];
  /** The revision all of them are read at. */
  readonly revision: Revision;
  /** The number of matching entries beyond the limit. */
  readonly remaining: number;
}

/** One committed write, as a subscriber sees it. */
export type Change =
  | { readonly type: 'put'; readonly entry: Entry; readonly previous: Entry | undefined }
  /** `entry` is the last value, at the revision of its deletion (in its bytes too). */
  | { readonly type: 'delete'; readonly entry: Entry; readonly previous: Entry }
  /** All changes up to `revision` were sent. Comes after the replay, then every few seconds if the store moved on. */
  | { readonly type: 'progress'; readonly revision: Revision };

/** Completes when the store closes. Fails with HistoryCompacted or SubscriberTooSlow. */
export type ChangeStream = Observable<Change>;

/** An ordered history of JSON values. Knows keys and revisions; knows no kinds. */
export interface Store {
  /** The live entry; never a stale one. */
  get(key: string): Promise<Entry | undefined>;
  /** Entries under a prefix in key order, all as of one revision. */
  scan(prefix: string, options?: ScanOptions): Promise<Scan>;
  /**
   * Applies one write if its expectation holds; otherwise fails with WriteConflict. Durable when it resolves.
   * Returns the new entry; for a deletion the last value at the revision of its deletion.
   */
  commit(write: Write): Promise<Entry>;
  /** Every change under a prefix after a revision: in order, no gaps, no repeats. */
  changes(prefix: string, after: Revision): ChangeStream;
  /** The revision of the latest committed write, which may be somebody else's (see `Revision`). */
  revision(): Promise<Revision>;
  /**
   * Whether a write now would encrypt the entry by another key, or not at all. Then even a write without changes is made.
   * Absent if nothing is encrypted.
   */
  isStale?(entry: Entry): boolean;
  /** Bytes on the disk of this machine; absent where it keeps nothing there. */
  size?(): Promise<number>;
  /** Ends every stream and releases the backend. Idempotent. */
  close(): Promise<void>;
}

/** The expectation of a write did not hold. */
export class WriteConflict extends Error {
  override readonly name = 'WriteConflict';
  readonly key: string;
  /** The entry that is there; undefined if there is none. */
  readonly actual: Entry | undefined;
  constructor(key: string, actual: Entry | undefined) {
    super(`write conflict on ${key}`);
    this.key = key;
    this.actual = actual;
  }
}

/** The history needed to answer is no longer kept. */
export class HistoryCompacted extends Error {
  override readonly name = 'HistoryCompacted';
  /** The oldest revision that can still be asked for. */
  readonly oldest: Revision;
  constructor(asked: Revision, oldest: Revision) {
    super(`history before revision ${oldest} is compacted, asked for ${asked}`);
    this.oldest = oldest;
  }
}

/** The revision asked for has not happened yet. */
export class RevisionInFuture extends Error {
  override readonly name = 'RevisionInFuture';
  readonly current: Revision;
  constructor(asked: Revision, current: Revision) {
    super(`revision ${asked} is in the future, current is ${current}`);
    this.current = current;
  }
}

/** A subscriber let too many changes pile up and was cut off; it should list again. */
export class SubscriberTooSlow extends Error {
  override readonly name = 'SubscriberTooSlow';
}

/** The store was closed, or its backend failed permanently. */
export class StoreClosed extends Error {
  override readonly name = 'StoreClosed';
}
