import { type ApiObject, keyOf, keyText, type ObjectKey } from '../api/object.js';
import type { Clock } from '../runtime/clock.js';

/** How often those are looked at again that the cache has not heard of. */
const lookEveryMs = 60_000;
/** By then a cache has heard of what there was, or never will. */
const rememberedMs = 900_000;

interface Surroundings<T extends ApiObject> {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Does the cache know this very object? */
  knows(object: T): boolean;
  wake(key: ObjectKey): void;
}

/**
 * Objects whose end is still to be told. Most ends the cache tells of. Not those of objects that were worked on, as they are
 * read fresh, before it heard of them, if they went before it did: these are found out here. Of what was found out the
 * cache may still tell later.
 */
export class DeletionTracker<T extends ApiObject> {
  readonly #given: Surroundings<T>;
  /** By key: several may have had one name. */
  readonly #untold = new Map<string, readonly T[]>();
  /** What was worked on and the cache had not heard of, by key. */
  readonly #worked = new Map<string, T>();
  /** Until when it is remembered that an end was found out here, by uid. */
  readonly #found = new Map<string, number>();
  #looks = false;

  constructor(given: Surroundings<T>) {
    this.#given = given;
  }

  /** Those under a name whose end is to be told, oldest first. */
  pending(key: ObjectKey): readonly T[] {
    return this.#untold.get(keyText(key)) ?? [];
  }

  /** The cache told that an object is there. */
  observed(object: T): void {
    const id = keyText(keyOf(object));
    if (isSame(object, this.#worked.get(id))) this.#worked.delete(id);
  }

  /** The cache told of an end. False if it was found out before. */
  deleted(last: T): boolean {
    this.observed(last);
    if (this.#found.delete(uidOf(last))) return false;
    this.#add(last);
    return true;
  }

  /** What there is under a name was read fresh: it is not to be told as ended, whatever was noticed before that. */
  readFresh(key: ObjectKey, object: T | undefined, noticed: readonly T[]): void {
    for (const last of noticed) if (isSame(last, object)) this.delivered(key, last);
  }

  /** The object is there and is worked on, or none is: what was worked on under the name before has ended. */
  workingOn(key: ObjectKey, object: T | undefined): void {
    const worked = this.#worked.get(keyText(key));
    if (worked !== undefined && (object === undefined || !isSame(worked, object))) {
      this.#worked.delete(keyText(key));
      this.#found.set(uidOf(worked), this.#given.clock.monotonic() + rememberedMs);
      this.#add(worked);
    }
    if (object === undefined) return;
    this.#found.delete(uidOf(object));
    if (this.#given.knows(object)) return;
    this.#worked.set(keyText(key), object);
    void this.#look();
  }

  /** Nothing more is to be told of it. */
  delivered(key: ObjectKey, last: T): void {
    const left = this.pending(key).filter((one) => one !== last);
    if (left.length > 0) this.#untold.set(keyText(key), left);
    else this.#untold.delete(keyText(key));
  }

  #add(last: T): void {
    const key = keyOf(last);
    this.#untold.set(keyText(key), [...this.pending(key).filter((one) => !isSame(one, last)), last]);
  }

  /** While there are some that the cache has not heard of. */
  async #look(): Promise<void> {
    if (this.#looks) return;
    this.#looks = true;
    const { clock, signal, wake } = this.#given;
    while (this.#worked.size + this.#found.size > 0) {
      await clock.sleep(lookEveryMs, signal);
      if (signal.aborted) return;
      for (const object of this.#worked.values()) wake(keyOf(object));
      for (const [uid, until] of this.#found) if (clock.monotonic() >= until) this.#found.delete(uid);
    }
    this.#looks = false;
  }
}

const uidOf = ({ metadata }: ApiObject): string => metadata.uid ?? '';

/** One object in two states, and not another of its name. */
export const isSame = (a: ApiObject, b: ApiObject | undefined): boolean => a.metadata.uid === b?.metadata.uid;
