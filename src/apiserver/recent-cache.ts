/**
 * A cache of values that are computed from objects, limited in bytes: it keeps at least the most recent `bytes`, and at
 * most twice as many. Evicted values can be computed again.
 */
export class RecentCache<K extends object, V> {
  readonly #bytes: number;
  #young = new WeakMap<K, V>();
  #old = new WeakMap<K, V>();
  #size = 0;

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  get(key: K): V | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  /** Stores a value. `bytes` is the growth of its size since it was last stored. */
  set(key: K, value: V, bytes: number): void {
    if (this.#size + bytes > this.#bytes) {
      this.#old = this.#young;
      this.#young = new WeakMap();
      this.#size = 0;
    }
    this.#size += bytes;
    this.#young.set(key, value);
  }
}
