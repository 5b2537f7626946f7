import type { Entry, Revision } from '../store.js';

/**
 * Recently used entries by key, so that all readers of a revision get the same object. Evicts the least recently used
 * ones beyond a number of bytes.
 */
export class EntryCache {
  readonly #limit: number;
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(limitBytes: number) {
    this.#limit = limitBytes;
  }

  /** Returns the entry of a key at a revision: the cached one, or a new one, which is cached unless a newer one is. */
  entry(key: string, revision: Revision, make: () => Entry): Entry {
    const known = this.#entries.get(key);
    if (known?.revision === revision) {
      this.#entries.delete(key);
      this.#entries.set(key, known);
      return known;
    }
    const created = make();
    if (known === undefined || known.revision < revision) this.#keep(created);
    return created;
  }

  #keep(entry: Entry): void {
    this.#forget(entry.key);
    this.#entries.set(entry.key, entry);
    this.#bytes += cost(entry);
    for (const key of this.#entries.keys()) {
      if (this.#bytes <= this.#limit) break;
      this.#forget(key);
    }
  }

  #forget(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= cost(entry);
  }
}

const cost = (entry: Entry): number => entry.bytes.length + entry.key.length + 200;
