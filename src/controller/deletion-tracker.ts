import { type ApiObject, keyOf, keyText, type ObjectKey } from '../api/object.js';
import type { Clock } from '../runtime/clock.js';

/** The interval of checks for objects that were reconciled before the cache saw them. */
const lookEveryMs = 60_000;
/** The time after which a cache has seen an object, or never will. */
const rememberedMs = 900_000;

interface TrackerContext<T extends ApiObject> {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Whether the cache has this object, by uid. */
  knows(object: T): boolean;
  wake(key: ObjectKey): void;
}

/**
 * Tracks the deletions that are still to be delivered to a controller. The cache reports most of them. But objects are
 * read from the server, so one may be reconciled and deleted before the cache has seen it: such deletions are detected
 * here. The cache may still report them later.
 */
export class DeletionTracker<T extends ApiObject> {
  readonly #context: TrackerContext<T>;
  /** Deleted objects by key; several may have had the same name. */
  readonly #pending = new Map<string, readonly T[]>();
  /** Objects that were reconciled before the cache saw them, by key. */
  readonly #worked = new Map<string, T>();
  /** Deletions detected here, by uid, with the time until which they are remembered. */
  readonly #found = new Map<string, number>();
  #isWatching = false;

  constructor(context: TrackerContext<T>) {
    this.#context = context;
  }

  /** Returns the deleted objects under a key that are to be delivered, oldest first. */
  pending(key: ObjectKey): readonly T[] {
    return this.#pending.get(keyText(key)) ?? [];
  }

  /** Records that the cache reported an existing object. */
  observed(object: T): void {
    const id = keyText(keyOf(object));
    if (isSame(object, this.#worked.get(id))) this.#worked.delete(id);
  }

  /** Records that the cache reported a deletion. Returns false if it was detected here before. */
  deleted(last: T): boolean {
    this.observed(last);
    if (this.#found.delete(uidOf(last))) return false;
    this.#add(last);
    return true;
  }

  /**
   * Records that the object under a key was read from the server: if it exists, it is not deleted, whatever was
   * reported before.
   */
  readFresh(key: ObjectKey, object: T | undefined, noticed: readonly T[]): void {
    for (const last of noticed) if (isSame(last, object)) this.delivered(key, last);
  }

  /**
   * Records that the object is being reconciled, or does not exist: another object that was reconciled under the key is
   * deleted.
   */
  workingOn(key: ObjectKey, object: T | undefined): void {
    const worked = this.#worked.get(keyText(key));
    if (worked !== undefined && (object === undefined || !isSame(worked, object))) {
      this.#worked.delete(keyText(key));
      this.#found.set(uidOf(worked), this.#context.clock.monotonic() + rememberedMs);
      this.#add(worked);
    }
    if (object === undefined) return;
    this.#found.delete(uidOf(object));
    if (this.#context.knows(object)) return;
    this.#worked.set(keyText(key), object);
    void this.#watchDeletions();
  }

  /** Records that the deletion was delivered. */
  delivered(key: ObjectKey, last: T): void {
    const others = this.pending(key).filter((one) => one !== last);
    if (others.length > 0) this.#pending.set(keyText(key), others);
    else this.#pending.delete(keyText(key));
  }

  #add(last: T): void {
    const key = keyOf(last);
    this.#pending.set(keyText(key), [...this.pending(key).filter((one) => !isSame(one, last)), last]);
  }

  /** Runs while there are objects that the cache has not seen. */
  async #watchDeletions(): Promise<void> {
    if (this.#isWatching) return;
    this.#isWatching = true;
    const { clock, signal, wake } = this.#context;
    while (this.#worked.size + this.#found.size > 0) {
      await clock.sleep(lookEveryMs, signal);
      if (signal.aborted) return;
      for (const object of this.#worked.values()) wake(keyOf(object));
      for (const [uid, until] of this.#found) if (clock.monotonic() >= until) this.#found.delete(uid);
    }
    this.#isWatching = false;
  }
}

const uidOf = ({ metadata }: ApiObject): string => metadata.uid ?? '';

/** Whether these are two states of one object, by uid. */
export const isSame = (a: ApiObject, b: ApiObject | undefined): boolean => a.metadata.uid === b?.metadata.uid;
