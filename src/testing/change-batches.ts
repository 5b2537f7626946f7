import { type Change, SubscriberTooSlow } from '../store/store.js';

/** What a `ChangeStream` is to a reader of batches. */
export interface ChangeSource {
  subscribe(observer: { next(change: Change): void; error(error: unknown): void; complete(): void }): {
    unsubscribe(): void;
  };
}

/**
 * A stream of changes for a reader with a pace of its own, such as a socket: `next` answers everything that arrived since
 * the last time, in order, and waits if that is nothing. At most `limit` changes (10,000 unless said otherwise) wait;
 * one more, and the stream is left, what waits is dropped, and the reader meets SubscriberTooSlow. Of marks of progress
 * only the last in a row is kept. Subscribes at once; `return` (or leaving a `for await`) unsubscribes.
 * An error of the stream is met after the changes before it.
 */
export function changeBatches(stream: ChangeSource, limit = 10_000): AsyncIterableIterator<readonly Change[]> {
  let waiting: Change[] = [];
  let ended: { readonly error: unknown } | 'completed' | undefined;
  const wake = new Set<() => void>();
  const wakeAll = (): void => {
    for (const call of wake) call();
    wake.clear();
  };
  const end = (how: typeof ended): void => {
    ended ??= how;
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
  // A stream may call back before `subscribe` returns.
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
