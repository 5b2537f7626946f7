/**
 * Remembers what was made of objects lately: the last so many bytes at least, twice as many at most. What it forgets can
 * be made again.
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

  /** `bytes`: how many the value has come to hold beyond those it held before. */
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
