import { type ApiObject, keyOf, keyText } from '../../src/api/object.js';
import type { ObjectCache } from '../../src/client/object-cache.js';

/** The contents of a cache combined with this controller's latest writes, which the cache may not have seen yet. */
export class RecentWrites<T extends ApiObject> {
  readonly #cache: ObjectCache<T>;
  readonly #writes = new Map<string, T>();

  constructor(cache: ObjectCache<T>) {
    this.#cache = cache;
    cache.changes.subscribe(({ type, object }) => {
      const id = keyText(keyOf(object));
      const known = this.#writes.get(id);
      if (known !== undefined && (type === 'deleted' || revision(object) >= revision(known))) this.#writes.delete(id);
    });
  }

  /** Adds the object that a write returned. */
  add(object: T): void {
    const seen = this.#cache.get(keyOf(object));
    if (seen === undefined || revision(seen) < revision(object)) this.#writes.set(keyText(keyOf(object)), object);
  }

  list(): readonly T[] {
    return this.#cache.list().map((object) => this.#writes.get(keyText(keyOf(object))) ?? object);
  }
}

const revision = ({ metadata }: ApiObject): bigint =>
  /^\d{1,20}$/.test(metadata.resourceVersion ?? '') ? BigInt(metadata.resourceVersion ?? 0) : 0n;
