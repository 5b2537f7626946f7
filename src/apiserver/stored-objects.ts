import type { ApiObject, ObjectKey, ResourceType } from '../api/object.js';
import type { ObjectSource } from '../auth/object-source.js';
import { storageKey, storagePrefix } from '../registry/keys.js';
import { type Change, type Store, StoreClosed } from '../store/store.js';

/**
 * The server's own view of stored objects of built-in kinds: read once, kept current by the change stream, so that
 * authorization and admission need not ask the store each time.
 */
export class StoredObjects implements ObjectSource {
  readonly #store: Store;
  readonly #collections = new Map<string, Promise<Collection>>();

  constructor(store: Store) {
    this.#store = store;
  }

  async get<T extends ApiObject>(type: ResourceType<T>, key: ObjectKey): Promise<T | undefined> {
    const entry = await this.#store.get(storageKey(type, key));
    return entry?.value as T | undefined;
  }

  async list<T extends ApiObject>(type: ResourceType<T>): Promise<readonly T[]> {
    return (await this.#collection(type)).list() as readonly T[];
  }

  /** Calls back after every change of a type, and once at the beginning. Answers how to stop. */
  async follow<T extends ApiObject>(
    type: ResourceType<T>,
    onChange: (objects: readonly T[]) => void,
  ): Promise<() => void> {
    const collection = await this.#collection(type);
    const listener = (): void => onChange(collection.list() as readonly T[]);
    listener();
    return collection.listen(listener);
  }

  #collection(type: ResourceType): Promise<Collection> {
    const prefix = storagePrefix(type);
    const known = this.#collections.get(prefix);
    if (known !== undefined) return known;
    const made = Collection.open(this.#store, prefix);
    this.#collections.set(prefix, made);
    // A failed read must not be remembered.
    made.catch(() => this.#collections.delete(prefix));
    return made;
  }
}

class Collection {
  readonly #store: Store;
  readonly #prefix: string;
  #objects = new Map<string, ApiObject>();
  readonly #listeners = new Set<() => void>();
  #listed: readonly ApiObject[] | undefined;

  private constructor(store: Store, prefix: string) {
    this.#store = store;
    this.#prefix = prefix;
  }

  static async open(store: Store, prefix: string): Promise<Collection> {
    const collection = new Collection(store, prefix);
    await collection.#load();
    return collection;
  }

  async #load(): Promise<void> {
    const { entries, revision } = await this.#store.scan(this.#prefix);
    this.#objects = new Map(entries.map(({ key, value }) => [key, value as unknown as ApiObject]));
    this.#changed();
    this.#store.changes(this.#prefix, revision).subscribe({
      next: (change) => this.#apply(change),
      error: (error: unknown) => {
        // Cut off as too slow: read everything again. A closed store has nothing more to tell.
        if (!(error instanceof StoreClosed)) this.#load().catch(() => {});
      },
    });
  }

  #apply(change: Change): void {
    if (change.type === 'progress') return;
    const { key, value } = change.entry;
    if (change.type === 'put') this.#objects.set(key, value as unknown as ApiObject);
    else this.#objects.delete(key);
    this.#changed();
  }

  #changed(): void {
    this.#listed = undefined;
    for (const listener of this.#listeners) listener();
  }

  list(): readonly ApiObject[] {
    this.#listed ??= [...this.#objects].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
    return this.#listed;
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
