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
 * Objects that were worked on before the cache heard of them, as they are read fresh: those that go before it does it never
 * tells of. Of what was found out here it may still tell later.
 */
export class Ahead<T extends ApiObject> {
  readonly #given: Surroundings<T>;
  readonly #worked = new Map<string, T>();
  /** Until when it is remembered that an end was found out here, by uid. */
  readonly #found = new Map<string, number>();
  #looks = false;

  constructor(given: Surroundings<T>) {
    this.#given = given;
  }

  /** The object is there, and is worked on. */
  worksOn(object: T): void {
    this.#found.delete(uidOf(object));
    if (this.#given.knows(object)) return;
    this.#worked.set(keyText(keyOf(object)), object);
    void this.#look();
  }

  /** The cache told of an object. False if its end was found out before. */
  hears(object: T, { isGone }: { readonly isGone: boolean }): boolean {
    const id = keyText(keyOf(object));
    const worked = this.#worked.get(id);
    if (worked !== undefined && uidOf(worked) === uidOf(object)) this.#worked.delete(id);
    return !isGone || !this.#found.delete(uidOf(object));
  }

  /** What was worked on under a name and is no more; `now` is what is there. */
  ended(id: string, now: T | undefined): T | undefined {
    const worked = this.#worked.get(id);
    if (worked === undefined || (now !== undefined && uidOf(worked) === uidOf(now))) return undefined;
    this.#worked.delete(id);
    this.#found.set(uidOf(worked), this.#given.clock.monotonic() + rememberedMs);
    return worked;
  }

  /** While there are some. */
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
