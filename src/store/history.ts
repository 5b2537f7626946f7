import { firstNotBefore } from '../api/binary-search.js';
import { sizeOf } from './document.js';
import type { Change, Revision } from './store.js';

/** A put or delete, as opposed to a progress mark. */
export type WrittenChange = Exclude<Change, { readonly type: 'progress' }>;

/** Limits of a store's history. The oldest changes are dropped as soon as one of the three is exceeded. */
export interface HistoryLimits {
  /** The maximum age of a change in milliseconds; default 5 minutes, as clients of Kubernetes expect. */
  readonly historyMs?: number;
  /** The maximum number of changes; default 100,000. */
  readonly historyLimit?: number;
  /** The maximum number of bytes that only the history keeps in memory; default 128 MiB. */
  readonly historyBytes?: number;
}

const defaults = { historyMs: 5 * 60_000, historyLimit: 100_000, historyBytes: 128 * 1_048_576 };

/** The memory of a change besides its documents: its objects and its slots in arrays and indexes. */
const changeOverhead = 256;

/** The maximum number of changes that one write drops, so that no write pays for a long idle time. */
const droppedAtOnce = 256;

/** The array is shifted when it has more holes at its front than this, and more than it has changes. */
const holesTolerated = 1_024;

/**
 * The recent changes in order, so that a subscriber can start in the past and a reader can read at a past revision.
 *
 * Every change has a position, which counts up by one; revisions grow too but may have gaps. The history is complete
 * between `oldest` (exclusive) and `newest` (inclusive): no other change happened there.
 */
export class History {
  readonly #limits: Required<HistoryLimits>;
  #changes: { readonly change: WrittenChange; readonly at: number }[] = [];
  #hole = 0;
  #begin = 0;
  #bytes = 0;
  #oldest: Revision;
  #newest: Revision;

  /** Creates an empty history that begins after `start`. */
  constructor(start: Revision, limits: HistoryLimits = {}) {
    this.#limits = { ...defaults, ...limits };
    this.#oldest = start;
    this.#newest = start;
  }

  /** The revision after which all changes are known. */
  get oldest(): Revision {
    return this.#oldest;
  }

  /** The revision up to which all changes have been added. */
  get newest(): Revision {
    return this.#newest;
  }

  /** The position of the oldest change kept. */
  get begin(): number {
    return this.#begin;
  }

  /** The position that the next change will get. */
  get end(): number {
    return this.#begin + this.#changes.length - this.#hole;
  }

  /** The change at a position; undefined before `begin` and from `end` on. */
  at(position: number): WrittenChange | undefined {
    return position < this.#begin ? undefined : this.#changes[position - this.#begin + this.#hole]?.change;
  }

  /** Returns the position of the first change after a revision. */
  positionAfter(revision: Revision): number {
    const isTold = (at: number): boolean => (this.#changes[at]?.change.entry.revision ?? 0n) <= revision;
    return firstNotBefore(this.#hole, this.#changes.length, isTold) - this.#hole + this.#begin;
  }

  /** Adds the next change, which happened at `now` (milliseconds), and returns the dropped ones. */
  append(change: WrittenChange, now: number): readonly WrittenChange[] {
    this.#changes.push({ change, at: now });
    this.#bytes += weight(change);
    this.#newest = change.entry.revision;
    return this.#dropExcess(now);
  }

  /** Records that no other change happened up to this revision. */
  advance(revision: Revision): void {
    if (revision > this.#newest) this.#newest = revision;
  }

  /** Drops everything; the history begins after this revision. */
  restart(revision: Revision): void {
    this.advance(revision);
    this.compact(this.#newest);
  }

  /** Drops every change up to a revision (at most `newest`) and returns them. */
  compact(revision: Revision): readonly WrittenChange[] {
    const dropped: WrittenChange[] = [];
    for (let first = this.at(this.#begin); first !== undefined; first = this.at(this.#begin)) {
      if (first.entry.revision > revision) break;
      dropped.push(this.#dropFirst(first));
    }
    const reached = revision < this.#newest ? revision : this.#newest;
    if (reached > this.#oldest) this.#oldest = reached;
    return dropped;
  }

  #dropExcess(now: number): readonly WrittenChange[] {
    const dropped: WrittenChange[] = [];
    const { historyMs, historyLimit, historyBytes } = this.#limits;
    while (dropped.length < droppedAtOnce) {
      const first = this.#changes[this.#hole];
      if (first === undefined) break;
      const excess = first.at < now - historyMs || this.end - this.#begin > historyLimit || this.#bytes > historyBytes;
      if (!excess) break;
      dropped.push(this.#dropFirst(first.change));
    }
    return dropped;
  }

  #dropFirst(change: WrittenChange): WrittenChange {
    this.#bytes -= weight(change);
    this.#oldest = change.entry.revision;
    this.#begin++;
    this.#hole++;
    if (this.#hole > holesTolerated && this.#hole * 2 > this.#changes.length) {
      this.#changes = this.#changes.slice(this.#hole);
      this.#hole = 0;
    }
    return change;
  }
}

/** Returns the number of bytes that only this change keeps in memory: the new value of a put is in use anyway. */
const weight = (change: WrittenChange): number =>
  changeOverhead +
  (change.previous === undefined ? 0 : sizeOf(change.previous)) +
  (change.type === 'delete' ? sizeOf(change.entry) : 0);
