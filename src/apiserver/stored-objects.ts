import { firstNotBefore } from '../api/binary-search.js';
import { type ApiObject, hasMetadata, type Json, type ObjectKey, type ResourceType } from '../api/object.js';
import type { Steps } from '../api/steps.js';
import type { ObjectSource } from '../auth/object-source.js';
import { storageKey, storagePrefix } from '../registry/keys.js';
import { type Clock, systemClock } from '../runtime/clock.js';
import { type Logger, silentLogger } from '../runtime/logger.js';
import type { Subscription } from '../runtime/observable.js';
import { runInTurns } from '../runtime/turn-taking.js';
import { type Change, type Entry, type Store, StoreClosed } from '../store/store.js';
import { isLarge } from './entry-codec.js';

/** The time between attempts to read a collection again, in milliseconds. */
const retryMs = 1_000;

/**
 * The server's own copy of stored objects of built-in kinds: read once and kept current by the change stream, so that
 * authorization and admission need not query the store each time. An unreadable object counts as absent and is logged,
 * so that damage to one object does not affect others.
 */
export class StoredObjects implements ObjectSource {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Logger;
  /** A promise while the collection is being read. */
  readonly #collections = new Map<string, Collection | Promise<Collection>>();

  constructor(
    store: Store,
    { clock = systemClock, log = silentLogger }: { readonly clock?: Clock; readonly log?: Logger } = {},
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
  }

  async get<T extends ApiObject>(type: ResourceType<T>, key: ObjectKey): Promise<T | undefined> {
    const entry = await this.#store.get(storageKey(type, key));
    return (entry !== undefined && isLarge(entry) ? await runInTurns(entry.read()) : entry?.value) as T | undefined;
  }

  async hasAny(type: ResourceType): Promise<boolean> {
    const { entries } = await this.#store.scan(storagePrefix(type), { limit: 1, tolerant: true });
    return entries.length > 0;
  }

  list<T extends ApiObject>(type: ResourceType<T>): readonly T[] | Promise<readonly T[]> {
    const collection = this.#collection(type);
    if (collection instanceof Collection) return collection.list() as readonly T[] | Promise<readonly T[]>;
    return collection.then((read) => read.list() as readonly T[] | Promise<readonly T[]>);
  }

  /**
   * Calls the listener after every change of a type, and once in the beginning. Returns a function that unsubscribes.
   */
  async follow<T extends ApiObject>(
    type: ResourceType<T>,
    onChange: (objects: readonly T[]) => void,
  ): Promise<() => void> {
    const collection = await this.#collection(type);
    const listener = (): void => onChange(collection.handOut() as readonly T[]);
    listener();
    return collection.listen(listener);
  }

  #collection(type: ResourceType): Collection | Promise<Collection> {
    const prefix = storagePrefix(type);
    const known = this.#collections.get(prefix);
    if (known !== undefined) return known;
    const opening = Collection.open(this.#store, prefix, { clock: this.#clock, log: this.#log });
    this.#collections.set(prefix, opening);
    opening.then(
      (collection) => this.#collections.set(prefix, collection),
      // The promise of a failed read must not be kept.
      () => this.#collections.delete(prefix),
    );
    return opening;
  }
}

interface CollectionOptions {
  readonly clock: Clock;
  readonly log: Logger;
}

function objectOf(value: Json): ApiObject {
  if (hasMetadata(value)) return value;
  throw new Error('it is not an object with metadata');
}

class Collection {
  readonly #store: Store;
  readonly #prefix: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  /** Sorted keys, each at the index of its object. */
  #keys: string[] = [];
  #objects: ApiObject[] = [];
  /** Whether the list was returned to a caller, and must be copied before the next change. */
  #shared = false;
  readonly #listeners = new Set<() => void>();
  /** Large changed objects are read in turns with other work; later changes wait for them. */
  #reading: Promise<void> | undefined;
  /** The number of times that the whole collection was read. */
  #loads = 0;
  #changes: Subscription | undefined;

  private constructor(store: Store, prefix: string, { clock, log }: CollectionOptions) {
    this.#store = store;
    this.#prefix = prefix;
    this.#clock = clock;
    this.#log = log;
  }

  static async open(store: Store, prefix: string, options: CollectionOptions): Promise<Collection> {
    const collection = new Collection(store, prefix, options);
    await collection.#load();
    return collection;
  }

  async #load(): Promise<void> {
    const { entries, revision } = await this.#store.scan(this.#prefix, { tolerant: true });
    const read = await runInTurns(this.#readable(entries));
    read.sort((a, b) => (a.key < b.key ? -1 : 1));
    this.#keys = read.map(({ key }) => key);
    this.#objects = read.map(({ object }) => object);
    this.#shared = false;
    this.#loads++;
    this.#tell();
    this.#changes?.unsubscribe();
    this.#changes = this.#store.changes(this.#prefix, revision).subscribe({
      next: (change) => this.#apply(change),
      error: (error: unknown) => void this.#loadAgain(error),
    });
  }

  *#readable(entries: readonly Entry[]): Steps<{ readonly key: string; readonly object: ApiObject }[]> {
    const read: { readonly key: string; readonly object: ApiObject }[] = [];
    for (const entry of entries) {
      const object = isLarge(entry) ? yield* this.#objectInSteps(entry) : this.#objectIn(entry);
      if (object !== undefined) read.push({ key: entry.key, object });
      yield;
    }
    return read;
  }

  /** Reads everything again until that succeeds. Meanwhile the known objects are kept. Ends if the store is closed. */
  async #loadAgain(cause: unknown): Promise<void> {
    for (let error = cause; !(error instanceof StoreClosed); await this.#clock.sleep(retryMs)) {
      try {
        return await this.#load();
      } catch (failure) {
        this.#log.warn(
          { err: failure, prefix: this.#prefix },
          'could not read stored objects; still using the last known state',
        );
        error = failure;
      }
    }
  }

  #apply(change: Change): void {
    if (change.type === 'progress') return;
    const { entry } = change;
    const isPut = change.type === 'put';
    if (this.#reading === undefined && !(isPut && isLarge(entry))) {
      this.#place(entry.key, isPut ? this.#objectIn(entry) : undefined);
      return;
    }
    const reading = this.#placeInTurns(this.#reading, entry, isPut)
      .catch((error: unknown) => void this.#loadAgain(error))
      .finally(() => {
        if (this.#reading === reading) this.#reading = undefined;
      });
    this.#reading = reading;
  }

  async #placeInTurns(before: Promise<void> | undefined, entry: Entry, isPut: boolean): Promise<void> {
    const loads = this.#loads;
    await before;
    const object = isPut ? await runInTurns(this.#objectInSteps(entry)) : undefined;
    if (loads === this.#loads) this.#place(entry.key, object);
  }

  #objectIn(entry: Entry): ApiObject | undefined {
    try {
      return objectOf(entry.value);
    } catch (error) {
      return this.#unreadable(entry, error);
    }
  }

  *#objectInSteps(entry: Entry): Steps<ApiObject | undefined> {
    try {
      return objectOf(yield* entry.read());
    } catch (error) {
      return this.#unreadable(entry, error);
    }
  }

  #unreadable({ key, revision }: Entry, err: unknown): undefined {
    this.#log.error(
      { key, revision: String(revision), err },
      'a stored object cannot be read and is treated as absent',
    );
    return undefined;
  }

  #place(key: string, value: ApiObject | undefined): void {
    const at = this.#placeOf(key);
    const known = this.#keys[at] === key ? 1 : 0;
    if (this.#shared) this.#objects = [...this.#objects];
    this.#shared = false;
    this.#keys.splice(at, known, ...(value === undefined ? [] : [key]));
    this.#objects.splice(at, known, ...(value === undefined ? [] : [value]));
    this.#tell();
  }

  /** Returns the index of a key, or the index at which it would be inserted. */
  #placeOf(key: string): number {
    return firstNotBefore(0, this.#keys.length, (at) => (this.#keys[at] ?? '') < key);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Returns the objects once all changes are applied. */
  list(): readonly ApiObject[] | Promise<readonly ApiObject[]> {
    return this.#reading === undefined ? this.handOut() : this.#reading.then(() => this.list());
  }

  /** Returns the objects that are known now. */
  handOut(): readonly ApiObject[] {
    this.#shared = true;
    return this.#objects;
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
