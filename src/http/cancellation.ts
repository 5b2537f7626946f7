// Made once: an abort without a reason makes one of its own, with a stack, each time.
const gone = new Error('nobody waits for the answer any more');

/**
 * Tells whoever works on a request that nobody waits for it any more. The signal is made when it is first looked at,
 * because most requests are over before anybody does.
 */
export class Cancellation {
  readonly #onStop = (): void => this.abort();
  #stopping: AbortSignal | undefined;
  #controller: AbortController | undefined;
  #aborted = false;

  /** `stopping` cancels too. Before anybody has looked. */
  endWith(stopping: AbortSignal): void {
    this.#stopping = stopping;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      // Work may go on after the request was given up, and nobody releases it then.
      if (this.#aborted || this.#stopping?.aborted) this.#controller.abort(gone);
      else this.#stopping?.addEventListener('abort', this.#onStop);
    }
    return this.#controller.signal;
  }

  abort(): void {
    this.#aborted = true;
    this.#controller?.abort(gone);
  }

  /** The request is over: `stopping` need not remember it. */
  release(): void {
    if (this.#controller !== undefined) this.#stopping?.removeEventListener('abort', this.#onStop);
  }
}
