import { History, type HistoryLimits, type WrittenChange } from './history.js';
import { endOfPrefix, sortKey } from './key-order.js';
import { type KeyRange, SortedMap } from './sorted-map.js';
import { type Entry, HistoryCompacted, type Revision, RevisionInFuture, type Scan, type ScanOptions } from './store.js';

/**
 * All entries in key order, as they are now and as they were at any revision in the history.
 *
 * Past values are found without copies, by undoing changes: for a key that changed since, the first change after the
 * requested revision holds its value before that; every other key has its current value. So reading at a past revision
 * costs as much as reading now, and a little for every change since.
 */
export class VersionedMap {
  readonly #live = new SortedMap<Entry>();
  readonly #history: History;

  /** Creates an empty map at revision `start`. */
  constructor(start: Revision, limits?: HistoryLimits) {
    this.#history = new History(start, limits);
  }

  /** The history, which must not be changed through this property. */
  get history(): History {
    return this.#history;
  }

  get size(): number {
    return this.#live.size;
  }

  get(key: string): Entry | undefined {
    return this.#live.get(sortKey(key));
  }

  /** Adds an entry from before the history began. */
  load(entry: Entry): void {
    this.#live.set(sortKey(entry.key), entry);
  }

  /** Applies the next change, which happened at `now` (milliseconds); returns the changes that left the history. */
  apply(change: WrittenChange, now: number): readonly WrittenChange[] {
    const key = sortKey(change.entry.key);
    if (change.type === 'put') this.#live.set(key, change.entry);
    else this.#live.delete(key);
    return this.#history.append(change, now);
  }

  /** Drops every change up to a revision from the history and returns them. */
  compact(revision: Revision): readonly WrittenChange[] {
    return this.#history.compact(revision);
  }

  /** @throws HistoryCompacted, RevisionInFuture */
  scan(prefix: string, options: ScanOptions = {}): Scan {
    const { at = this.#history.newest, after, limit = Number.POSITIVE_INFINITY } = options;
    if (at > this.#history.newest) throw new RevisionInFuture(at, this.#history.newest);
    if (at < this.#history.oldest) throw new HistoryCompacted(at, this.#history.oldest);
    const start = sortKey(prefix);
    const next = after === undefined ? start : `${sortKey(after)}\0`;
    const range = { low: next > start ? next : start, high: endOfPrefix(start) };
    if (range.high !== undefined && range.low >= range.high) return { entries: [], revision: at, remaining: 0 };
    return at === this.#history.newest ? this.#present(range, at, limit) : this.#asOf(range, at, limit);
  }

  #present(range: KeyRange, revision: Revision, limit: number): Scan {
    const entries: Entry[] = [];
    const next = this.#live.each(range, (_key, entry) => {
      if (entries.length >= limit) return true;
      entries.push(entry);
      return false;
    });
    return { entries, revision, remaining: next === undefined ? 0 : this.#live.count({ ...range, low: next }) };
  }

  #asOf(range: KeyRange, at: Revision, limit: number): Scan {
    const since = this.#changedSince(at, range);
    const gone = [...since]
      .flatMap(([key, { entry, lives }]) => (entry === undefined || lives ? [] : [{ key, entry }]))
      .sort((a, b) => compareStrings(a.key, b.key));
    const entries: Entry[] = [];
    let next = 0;
    const takeGone = (): void => {
      const { entry } = gone[next++] ?? {};
      if (entry !== undefined) entries.push(entry);
    };
    const stopped = this.#live.each(range, (key, live) => {
      while (entries.length < limit && (gone[next]?.key ?? key) < key) takeGone();
      if (entries.length >= limit) return true;
      const changed = since.get(key);
      const entry = changed === undefined ? live : changed.entry;
      if (entry !== undefined) entries.push(entry);
      return false;
    });
    while (entries.length < limit && next < gone.length) takeGone();
    let remaining = gone.length - next;
    if (stopped === undefined) return { entries, revision: at, remaining };
    remaining += this.#live.count({ ...range, low: stopped });
    for (const [key, { entry, lives }] of since) {
      if (key >= stopped && lives && entry === undefined) remaining--;
    }
    return { entries, revision: at, remaining };
  }

  #changedSince(at: Revision, { low, high }: KeyRange): ReadonlyMap<string, Changed> {
    const since = new Map<string, Changed>();
    for (let position = this.#history.positionAfter(at); ; position++) {
      const change = this.#history.at(position);
      if (change === undefined) return since;
      const key = sortKey(change.entry.key);
      if (key < low || (high !== undefined && key >= high)) continue;
      const known = since.get(key);
      const lives = change.type === 'put';
      if (known === undefined) since.set(key, { entry: change.previous, lives });
      else known.lives = lives;
    }
  }
}

/** The changes to a key after the requested revision. */
interface Changed {
  /** Its entry at that revision. */
  readonly entry: Entry | undefined;
  /** Whether it has an entry now. */
  lives: boolean;
}

function compareStrings(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
