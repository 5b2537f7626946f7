/** Work on an object that may be large, as a generator that yields between steps so that other work can run. */
export type Steps<R> = Generator<void, R, void>;

/** Returns a result that is there already or comes in steps; for use with `yield*`. */
export function* resultOf<T>(work: T | Steps<T>): Steps<T> {
  return isSteps(work) ? yield* work : work;
}

/**
 * Whether a result comes in steps rather than being there already. JSON lists are iterable and have no `next`; JSON objects
 * may have any member and are not iterable.
 */
export const isSteps = <T>(work: T | Steps<T>): work is Steps<T> =>
  typeof work === 'object' && work !== null && Symbol.iterator in work && 'next' in work;

/** How many list items, members or tree nodes are processed in one step. */
export const itemsPerStep = 2_048;

interface Job {
  readonly count: number;
  act(at: number): void;
  /** Returns to the position where the job was found. */
  readonly enter: (() => void) | undefined;
  readonly done: (() => void) | undefined;
}

/**
 * Makes a `keepPlace` for `DeferredWork.each` of a recursion that keeps its position in `path`: saves the path, and
 * returns how to restore it.
 */
export const pathRestorer =
  <T>(path: T[]) =>
  (): (() => void) => {
    const place = [...path];
    return () => void path.splice(0, path.length, ...place);
  };

/**
 * Loops that a recursion finds too large to run inline: they run at the end, in steps. Recursing through generators instead
 * would take several times as long for all the small values.
 */
export class DeferredWork {
  readonly #jobs: Job[] = [];
  readonly #most: number;

  /** Loops over more than `most` items are deferred. */
  constructor(most = itemsPerStep) {
    this.#most = most;
  }

  /**
   * Calls `act` for each index below `count`, then `done`: now, or at the end if they are many; returns whether it was
   * deferred. `keepPlace` saves the position of the recursion and returns how to restore it, if that matters.
   */
  each(count: number, act: (at: number) => void, keepPlace?: () => () => void, done?: () => void): boolean {
    if (count > this.#most) {
      this.#jobs.push({ count, act, enter: keepPlace?.(), done });
      return true;
    }
    for (let at = 0; at < count; at++) act(at);
    done?.();
    return false;
  }

  get isEmpty(): boolean {
    return this.#jobs.length === 0;
  }

  *rest(): Steps<void> {
    // Jobs may add jobs.
    for (const { count, act, enter, done } of this.#jobs) {
      for (let begin = 0; begin < count; begin += itemsPerStep) {
        yield;
        enter?.();
        for (let at = begin; at < Math.min(begin + itemsPerStep, count); at++) act(at);
      }
      yield;
      enter?.();
      done?.();
    }
  }
}

/** Defers nothing, for callers that use the result at once. */
export const noDeferral = new DeferredWork(Number.POSITIVE_INFINITY);

/** Runs all steps without a pause and returns the result. */
export function runSync<R>(steps: Steps<R>): R {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
