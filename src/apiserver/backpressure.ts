/**
 * Backpressure from the reader of a watch. The watch asks after every event whether to wait; while it waits, it is
 * unsubscribed from the store, and later resumes from the same position in the history. A slow reader therefore costs
 * only what is buffered in its socket, and one that falls behind the end of the history is disconnected. Without a
 * limit, a watch never waits.
 */
export class Backpressure {
  #wait: (() => Promise<void> | undefined) | undefined;

  /**
   * Sets the function that limits the watch: it returns undefined while the reader accepts more events, otherwise a
   * promise that resolves when it does.
   */
  limit(wait: () => Promise<void> | undefined): void {
    this.#wait = wait;
  }

  /** Returns a promise that resolves when the watch may continue; undefined if it may continue at once. */
  wait(): Promise<void> | undefined {
    return this.#wait?.();
  }
}
