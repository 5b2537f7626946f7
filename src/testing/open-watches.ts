import { expired } from '../api/errors.js';
import type { WatchItem } from '../apiserver/request.js';
import { Observable } from '../runtime/observable.js';
import type { RequestHandler } from '../server/core.js';

/** The open watches of a server, which a test can end. */
export class OpenWatches {
  readonly #ends = new Set<(last?: WatchItem) => void>();

  /** Completes all watches, as when their time is up. */
  end(): void {
    for (const end of [...this.#ends]) end();
  }

  /** Ends all watches with an error 410, after which clients cannot resume them. */
  expire(): void {
    const error = expired('The resourceVersion for the provided watch is too old.');
    for (const end of [...this.#ends]) end({ type: 'ERROR', error });
  }

  /** Wraps a handler so that its watches can be ended. */
  readonly answers =
    (handle: RequestHandler): RequestHandler =>
    async (request) => {
      const response = await handle(request);
      const { result } = response;
      if (result.type !== 'watch') return response;
      const events = new Observable<WatchItem>((subscriber) => {
        const end = (last?: WatchItem): void => {
          if (last !== undefined) subscriber.next(last);
          subscriber.complete();
        };
        this.#ends.add(end);
        subscriber.add(() => this.#ends.delete(end));
        return result.events.subscribe(subscriber);
      });
      return { ...response, result: { ...result, events } };
    };
}
