import { type Change, SubscriberTooSlow } from '../store/store.js';

/** The source of changes: the part of a `ChangeStream` that `changeBatches` uses. */
export interface ChangeSource {
  subscribe(observer: { next(change: Change): void; error(error: unknown): void; complete(): void }): {
    unsubscribe(): void;
  };
}

/**
 * Turns a stream of changes into batches for a consumer with its own pace, such as a socket. `next` returns everything
 * that arrived since the last call, in order, and waits if there is nothing. At most `limit` changes are buffered
 * (default 10,000); beyond that, the stream is unsubscribed, the buffer is dropped, and the consumer receives
 * SubscriberTooSlow. Only the last of consecutive progress marks is kept. Subscribes at once; `return` (or leaving a
 * `for await`) unsubscribes. An error of the stream is delivered after the changes before it.
 */
export function changeBatches(stream: ChangeSource, limit = 10_000): AsyncIterableIterator<readonly Change[]> {
  let waiting: Change[] = [];
  let ended: { readonly error: unknown } | 'completed' | undefined;
  const wake = new Set<() => void>();
  const wakeAll = (): void => {
    for (const call of wake) call();
    wake.clear();
  };
  const end = (outcome: typeof ended): void => {
    ended ??= outcome;
    wakeAll();
  };
  const add = (change: Change): void => {
    if (ended !== undefined) return;
    if (change.type === 'progress' && waiting.at(-1)?.type === 'progress') waiting.pop();
    if (waiting.length < limit) {
      waiting.push(change);
      wakeAll();
      return;
    }
    waiting = [];
    end({ error: new SubscriberTooSlow(`more than ${limit} changes were waiting to be read`) });
    subscription?.unsubscribe();
  };
  // A stream may call the observer before `subscribe` returns.
  let subscription: { unsubscribe(): void } | undefined;
  subscription = stream.subscribe({ next: add, error: (error) => end({ error }), complete: () => end('completed') });
  if (ended !== undefined) subscription.unsubscribe();

  return {
    async next() {
      while (waiting.length === 0 && ended === undefined) await new Promise<void>((resolve) => wake.add(resolve));
      if (waiting.length > 0) {
        const value = waiting;
        waiting = [];
        return { done: false, value };
      }
      if (ended === 'completed' || ended === undefined) return { done: true, value: undefined };
      const { error } = ended;
      ended = 'completed';
      throw error;
    },
    async return() {
      waiting = [];
      end('completed');
      subscription?.unsubscribe();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
