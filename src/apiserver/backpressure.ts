/**
 * Backpressure from the reader of a watch. The watch asks after every event; told to wait, it unsubscribes from the
 * store, and later resumes from the same place in the history. So a slow reader costs only what is buffered in its
 * socket, and one that falls behind the end of the history is disconnected. Without a limit a watch never waits.
 */
export class Backpressure {
  #wait: (() => Promise<void> | undefined) | undefined;

  /**
   * Sets the limit: `wait` returns undefined while the reader accepts more, otherwise a promise that resolves when it
   * does.
   */
  limit(wait: () => Promise<void> | undefined): void {
    this.#wait = wait;
  }

  /** Returns undefined if the watch may continue at once. */
  wait(): Promise<void> | undefined {
    return this.#wait?.();
  }
}
