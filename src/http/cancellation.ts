// Created once: an abort without a reason creates an error, with a stack, each time.
const gone = new Error('the caller no longer waits for the answer');

/**
 * Signals that the caller of a request has gone. The AbortSignal is created on first use, because most requests never
 * need one.
 */
export class Cancellation {
  readonly #onStop = (): void => this.abort();
  #stopping: AbortSignal | undefined;
  #controller: AbortController | undefined;
  #aborted = false;

  /** Makes `stopping` cancel too. Must be called before the signal is first used. */
  endWith(stopping: AbortSignal): void {
    this.#stopping = stopping;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      // Work may continue after the request was abandoned, and then `release` is never called.
      if (this.#aborted || this.#stopping?.aborted) this.#controller.abort(gone);
      else this.#stopping?.addEventListener('abort', this.#onStop);
    }
    return this.#controller.signal;
  }

  abort(): void {
    this.#aborted = true;
    this.#controller?.abort(gone);
  }

  /** Removes the listener on `stopping` once the request is over. */
  release(): void {
    if (this.#controller !== undefined) this.#stopping?.removeEventListener('abort', this.#onStop);
  }
}
