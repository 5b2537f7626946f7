import { expired } from '../api/errors.js';
import type { WatchItem } from '../apiserver/request.js';
import { Observable } from '../runtime/observable.js';
import type { RequestHandler } from '../server/core.js';

/** All watches of a server that are open now, to be ended. */
export class OpenWatches {
  readonly #ends = new Set<(last?: WatchItem) => void>();

  /** They complete, as when their time is up. */
  end(): void {
    for (const end of [...this.#ends]) end();
  }

  /** Each gets an error 410 and completes: nobody can go on from where they were. */
  expire(): void {
    const error = expired('The resourceVersion for the provided watch is too old.');
    for (const end of [...this.#ends]) end({ type: 'ERROR', error });
  }

  /** The same answers, with watches that can be ended. */
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
