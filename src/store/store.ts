import type { Observable } from 'rxjs';
import type { Json } from '../api/object.js';
import type { Steps } from '../api/steps.js';

/**
 * A position in the store's history. Grows with every committed write: by one from 1, unless the backend also counts
 * writes of other programs.
 */
export type Revision = bigint;

/**
 * A JSON document with an offset for its revision. The store inserts the decimal digits of the commit's revision at
 * byte `revisionAt`, so that stored bytes can be sent to a client unchanged; -1 means that no revision is inserted.
 */
export interface Document {
  readonly bytes: Buffer;
  readonly revisionAt: number;
}

/** One committed value. Immutable: all readers get the same object, so that its identity can be a cache key. */
export interface Entry {
  readonly key: string;
  readonly revision: Revision;
  /** Encoded JSON with the revision in it. Must not be modified. */
  readonly bytes: Buffer;
  /** The offset of the revision's digits in `bytes`; -1 if it has none. */
  readonly revisionAt: number;
  /** Identifies the provider and key that encrypt its stored form; absent if it is not encrypted. */
  readonly keptAs?: string;
  /** `bytes`, parsed on first access. Must not be modified. */
  readonly value: Json;
  /** Returns `value`, in steps if it is large. */
  read(): Steps<Json>;
  /**
   * Returns one member of `value` without parsing the others, unless they have been parsed; in steps if it is large.
   * Must not be modified.
   */
  member(name: string): Steps<Json | undefined>;
}

/** A put, replacement or deletion of one entry, on condition of its current state. */
export interface Write {
  readonly key: string;
  /** The new document; undefined for a deletion. */
  readonly document: Document | undefined;
  /** The revision the entry must have now, or 'absent'. */
  readonly expect: Revision | 'absent';
}

/** Options of a scan: the entries below a prefix that are read, and at which revision. */
export interface ScanOptions {
  /** Read at this revision instead of the current one. Fails with HistoryCompacted, or RevisionInFuture. */
  readonly at?: Revision;
  /** Only keys greater than this one. */
  readonly after?: string;
  readonly limit?: number;
  /**
   * Do not fail because of entries that other programs wrote or that cannot be decrypted. They are returned as entries
   * that fail when read and must not be shown.
   */
  readonly tolerant?: boolean;
}

/** The result of a scan. */
export interface Scan {
  /** In key order. */
  readonly entries: readonly Entry[];
  /** The revision at which all of them are read. */
  readonly revision: Revision;
  /** The number of matching entries beyond the limit. */
  readonly remaining: number;
}

/** One committed write, as a subscriber sees it. */
export type Change =
  | { readonly type: 'put'; readonly entry: Entry; readonly previous: Entry | undefined }
  /** `entry` is the last value at the revision of its deletion, which its bytes also contain. */
  | { readonly type: 'delete'; readonly entry: Entry; readonly previous: Entry }
  /**
   * All changes up to `revision` were sent. Comes after the replay, then every few seconds if other keys were written.
   */
  | { readonly type: 'progress'; readonly revision: Revision };

/** Completes when the store closes. Fails with HistoryCompacted or SubscriberTooSlow. */
export type ChangeStream = Observable<Change>;

/** An ordered history of JSON values. It works with keys and revisions and knows no kinds. */
export interface Store {
  /** Returns the current entry; never a stale one. */
  get(key: string): Promise<Entry | undefined>;
  /** Returns the entries under a prefix in key order, all at one revision. */
  scan(prefix: string, options?: ScanOptions): Promise<Scan>;
  /**
   * Applies one write if its expectation holds; otherwise fails with WriteConflict. Durable when it resolves. Returns
   * the new entry, or for a deletion the last value at the revision of its deletion.
   */
  commit(write: Write): Promise<Entry>;
  /** Returns every change under a prefix after a revision: in order, without gaps or repetitions. */
  changes(prefix: string, after: Revision): ChangeStream;
  /** Returns the revision of the latest committed write, which may be that of another program (see `Revision`). */
  revision(): Promise<Revision>;
  /**
   * Whether a write now would encrypt the entry with another key, or not at all. Then even a write without changes is
   * committed. Absent if nothing is encrypted.
   */
  isStale?(entry: Entry): boolean;
  /** Returns the number of bytes on this machine's disk; absent if the store keeps nothing there. */
  size?(): Promise<number>;
  /** Ends every stream and releases the backend. Idempotent. */
  close(): Promise<void>;
}

/** Thrown when the expectation of a write does not hold. */
export class WriteConflict extends Error {
  override readonly name = 'WriteConflict';
  readonly key: string;
  /** The current entry; undefined if there is none. */
  readonly actual: Entry | undefined;
  constructor(key: string, actual: Entry | undefined) {
    super(`write conflict on ${key}`);
    this.key = key;
    this.actual = actual;
  }
}

/** Thrown when the history needed for an answer is no longer available. */
export class HistoryCompacted extends Error {
  override readonly name = 'HistoryCompacted';
  /** The oldest revision that is still available. */
  readonly oldest: Revision;
  constructor(requested: Revision, oldest: Revision) {
    super(`history before revision ${oldest} is compacted, asked for ${requested}`);
    this.oldest = oldest;
  }
}

/** Thrown when the requested revision has not happened yet. */
export class RevisionInFuture extends Error {
  override readonly name = 'RevisionInFuture';
  readonly current: Revision;
  constructor(requested: Revision, current: Revision) {
    super(`revision ${requested} is in the future, current is ${current}`);
    this.current = current;
  }
}

/** Thrown when a subscriber falls too far behind and is cut off; it should list again. */
export class SubscriberTooSlow extends Error {
  override readonly name = 'SubscriberTooSlow';
}

/** Thrown when the store was closed, or its backend failed permanently. */
export class StoreClosed extends Error {
  override readonly name = 'StoreClosed';
}
