/** Work on an object that may be large, in steps between which others can have their turn. */
export type Steps<R> = Generator<void, R, void>;

/** Goes on with what is there already or comes in steps. */
export function* resultOf<T>(work: T | Steps<T>): Steps<T> {
  return isSteps(work) ? yield* work : work;
}

/**
 * Does it come in steps, or is it there? JSON has lists, which are iterable and have no `next`, and objects, which may
 * have any member and are not iterable.
 */
export const isSteps = <T>(work: T | Steps<T>): work is Steps<T> =>
  typeof work === 'object' && work !== null && Symbol.iterator in work && 'next' in work;

/** So many items of a list, members of an object or nodes of a tree are a step of their own. */
export const itemsPerStep = 2_048;

interface Job {
  readonly count: number;
  act(at: number): void;
  /** Goes back to where the job was found. */
  readonly enter: (() => void) | undefined;
  readonly done: (() => void) | undefined;
}

/** How to come back to where a recursion stands, by the path that it keeps of its way. */
export const pathRestorer =
  <T>(path: T[]) =>
  (): (() => void) => {
    const place = [...path];
    return () => void path.splice(0, path.length, ...place);
  };

/**
 * What a recursion finds too large to be dealt with on the way: it comes at the end, in steps. Recursing through
 * generators would take several times as long for all the small values.
 */
export class DeferredWork {
  readonly #jobs: Job[] = [];
  readonly #most: number;

  /** What has more items than `most` is postponed. */
  constructor(most = itemsPerStep) {
    this.#most = most;
  }

  /**
   * Calls `act` for so many items, then `done`: now, or at the end if they are many, which is what it answers.
   * `keepPlace` answers how to come back to the place where this is called, if that matters.
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

/** Postpones nothing, for what is looked at as soon as it is there. */
export const noDeferral = new DeferredWork(Number.POSITIVE_INFINITY);

/** Goes through all steps without a pause. */
export function runSync<R>(steps: Steps<R>): R {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
