/**
 * A map with at most `limit` entries: the entry that was set longest ago is evicted first; setting a key again makes it
 * the newest.
 */
export class BoundedMap<K, V> {
  readonly #entries = new Map<K, V>();
  readonly #limit: number;
  readonly #evicted: (value: V) => void;

  /** `evicted` is called with each value that is evicted because there are more than `limit`. */
  constructor(limit: number, evicted: (value: V) => void = () => {}) {
    this.#limit = limit;
    this.#evicted = evicted;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#limit) return;
    const [oldest] = this.#entries;
    if (oldest === undefined) return;
    this.#entries.delete(oldest[0]);
    this.#evicted(oldest[1]);
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  values(): Iterable<V> {
    return this.#entries.values();
  }
}
