import { type Clock, systemClock } from '../../runtime/clock.js';
import { FanOut } from '../fan-out.js';
import type { HistoryLimits } from '../history.js';
import {
  type ChangeStream,
  type Entry,
  type Revision,
  type Scan,
  type ScanOptions,
  type Store,
  StoreClosed,
  type Write,
} from '../store.js';
import { VersionedMap } from '../versioned-map.js';
import { changeOf, checkExpectation, checkWrite } from '../write.js';

/** The history limits of a store in memory, and the beginning of its revisions. */
export interface MemoryStoreOptions extends HistoryLimits {
  readonly clock?: Clock;
  /** The interval of progress reports in streams without changes; default 5 seconds. */
  readonly progressMs?: number;
  /** Revisions begin after this one. Default 0. */
  readonly after?: Revision;
}

/** The reference store: everything is in this process's memory, and lost when it is closed. */
export class MemoryStore implements Store {
  readonly #clock: Clock;
  readonly #map: VersionedMap;
  readonly #fanOut: FanOut;
  #closed = false;

  constructor(options: MemoryStoreOptions = {}) {
    this.#clock = options.clock ?? systemClock;
    this.#map = new VersionedMap(options.after ?? 0n, options);
    this.#fanOut = new FanOut(this.#map.history, options);
  }

  async get(key: string): Promise<Entry | undefined> {
    this.#checkOpen();
    return this.#map.get(key);
  }

  async scan(prefix: string, options?: ScanOptions): Promise<Scan> {
    this.#checkOpen();
    return this.#map.scan(prefix, options);
  }

  async commit(write: Write): Promise<Entry> {
    this.#checkOpen();
    checkWrite(write);
    const actual = this.#map.get(write.key);
    checkExpectation(write, actual);
    const change = changeOf(write, actual, this.#map.history.newest + 1n);
    this.#map.apply(change, this.#clock.now());
    this.#fanOut.deliver();
    return change.entry;
  }

  changes(prefix: string, after: Revision): ChangeStream {
    return this.#fanOut.changes(prefix, after);
  }

  async revision(): Promise<Revision> {
    this.#checkOpen();
    return this.#map.history.newest;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#fanOut.close();
  }

  /** Compacts the history up to a revision now; for tests. */
  async compact(revision: Revision): Promise<void> {
    this.#checkOpen();
    this.#map.compact(revision);
  }

  #checkOpen(): void {
    if (this.#closed) throw new StoreClosed('the store is closed');
  }
}
