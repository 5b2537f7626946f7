import { firstNotBefore } from '../api/binary-search.js';
import { sizeOf } from './document.js';
import type { Change, Revision } from './store.js';

/** A put or delete, as opposed to a progress mark. */
export type WrittenChange = Exclude<Change, { readonly type: 'progress' }>;

/** How far back a store can look. A change is dropped as soon as any of the three is exceeded. */
export interface HistoryLimits {
  /** Age in milliseconds of the oldest change kept; 5 minutes unless said otherwise, as clients of Kubernetes expect. */
  readonly historyMs?: number;
  /** Number of changes kept; 100,000 unless said otherwise. */
  readonly historyLimit?: number;
  /** Bytes kept alive only by the history; 128 MiB unless said otherwise. */
  readonly historyBytes?: number;
}

const defaults = { historyMs: 5 * 60_000, historyLimit: 100_000, historyBytes: 128 * 1_048_576 };

/** What a change costs beyond its documents: its own objects and its places in arrays and indexes. */
const changeOverhead = 256;

/** A writer drops at most so many changes at once, so that no single write pays for a long idle time. */
const droppedAtOnce = 256;

/** Holes at the front of the array are closed when there are more of them than this and than changes. */
const holesTolerated = 1_024;

/**
 * The recent past, in order: what lets a subscriber start before now and a reader look back.
 *
 * Every change has a position, which counts up by one; revisions grow too but may have holes. The history is
 * complete between `oldest` (exclusive) and `newest` (inclusive): no other change happened there.
 */
export class History {
  readonly #limits: Required<HistoryLimits>;
  #changes: { readonly change: WrittenChange; readonly at: number }[] = [];
  #hole = 0;
  #begin = 0;
  #bytes = 0;
  #oldest: Revision;
  #newest: Revision;

  /** Starts empty, knowing nothing of what happened up to `start`. */
  constructor(start: Revision, limits: HistoryLimits = {}) {
    this.#limits = { ...defaults, ...limits };
    this.#oldest = start;
    this.#newest = start;
  }

  /** What happened after this revision is known; what happened up to it is not. */
  get oldest(): Revision {
    return this.#oldest;
  }

  /** Everything up to this revision has been added. */
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

  /** The position of the first change after a revision. */
  positionAfter(revision: Revision): number {
    const isTold = (at: number): boolean => (this.#changes[at]?.change.entry.revision ?? 0n) <= revision;
    return firstNotBefore(this.#hole, this.#changes.length, isTold) - this.#hole + this.#begin;
  }

  /** Adds the next change, which happened at `now` (milliseconds), and answers those it pushed out. */
  append(change: WrittenChange, now: number): readonly WrittenChange[] {
    this.#changes.push({ change, at: now });
    this.#bytes += weight(change);
    this.#newest = change.entry.revision;
    return this.#dropExcess(now);
  }

  /** Nothing else happened up to this revision. */
  advance(revision: Revision): void {
    if (revision > this.#newest) this.#newest = revision;
  }

  /** Forgets everything, and knows nothing of what happened up to this revision. */
  restart(revision: Revision): void {
    this.advance(revision);
    this.compact(this.#newest);
  }

  /** Forgets every change up to a revision (at most `newest`) and answers them. */
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

/** The bytes that live on only because of this change: the new value of a put is live anyway. */
const weight = (change: WrittenChange): number =>
  changeOverhead +
  (change.previous === undefined ? 0 : sizeOf(change.previous)) +
  (change.type === 'delete' ? sizeOf(change.entry) : 0);
