import type { Entry, Revision } from '../store.js';

/**
 * Entries seen lately, by key, so that every reader of one revision is handed the same entry. Forgets those not asked
 * for longest, beyond a number of bytes.
 */
export class EntryCache {
  readonly #limit: number;
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(limitBytes: number) {
    this.#limit = limitBytes;
  }

  /** The entry of a key at a revision: the one known, or the one made now, which is kept unless a newer one is known. */
  entry(key: string, revision: Revision, make: () => Entry): Entry {
    const known = this.#entries.get(key);
    if (known?.revision === revision) {
      this.#entries.delete(key);
      this.#entries.set(key, known);
      return known;
    }
    const made = make();
    if (known === undefined || known.revision < revision) this.#keep(made);
    return made;
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
