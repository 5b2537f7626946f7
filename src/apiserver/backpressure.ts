/**
 * How fast a reader takes what a watch sends. A watch asks after everything it sends; told to wait, it leaves the store's
 * stream, and goes on from the same place in the history when it may. So a slow reader costs what waits in its socket,
 * and nothing more; one that is overtaken by the end of the history is cut off. Without a reader that limits it, a watch
 * never waits.
 */
export class Backpressure {
  #wait: (() => Promise<void> | undefined) | undefined;

  /** `wait` answers undefined while the reader takes more, else when it will. */
  limit(wait: () => Promise<void> | undefined): void {
    this.#wait = wait;
  }

  /** undefined: go on. */
  wait(): Promise<void> | undefined {
    return this.#wait?.();
  }
}
