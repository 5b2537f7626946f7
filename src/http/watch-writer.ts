import type { Writable } from 'node:stream';
import type { EventEncoder } from '../apiserver/represent-event.js';
import type { WatchItem, WatchResult } from '../apiserver/request.js';
import type { Clock } from '../runtime/clock.js';
import { Subscription } from '../runtime/observable.js';
import { PacedWriter } from './paced-writer.js';

/** If more bytes than this are queued, the watch pauses until all of them are drained. */
const restAbove = 1_048_576;

/**
 * Writes the events of a watch to its caller as they come, no faster than it reads. The stream ends with the watch, or
 * before an event that has no representation. A caller that disconnects or does not read ends the watch. Rejects if an
 * event cannot be encoded.
 */
export function writeWatch(
  { events, backpressure }: Pick<WatchResult, 'events' | 'backpressure'>,
  encode: EventEncoder,
  out: Writable,
  { abort, clock }: { abort(): void; readonly clock: Clock },
): Promise<void> {
  return new Promise((resolve, reject) => {
    // Created before subscribing, because a watch may be over before it has begun.
    const subscription = new Subscription();
    const writer = new PacedWriter(out, { clock, abort });
    const finish = (): void => {
      subscription.unsubscribe();
      resolve();
    };
    /** A large event that is being encoded, with the events after it. No event may overtake it, or follow it if it fails. */
    let encoding: Promise<void> | undefined;
    const hold = (work: Promise<void>): void => {
      const done = work.then(() => {
        if (encoding === done) encoding = undefined;
      });
      done.catch(fail);
      encoding = done;
    };
    const fail = (error: unknown): void => {
      subscription.unsubscribe();
      reject(error);
    };
    const end = (): void => {
      writer.end();
      finish();
    };
    const write = (bytes: Buffer | undefined): void => {
      if (writer.isOver) return;
      if (bytes === undefined) end();
      else writer.write(bytes);
    };
    const tell = (item: WatchItem): void | Promise<void> => {
      if (writer.isOver) return;
      const bytes = encode(item);
      return bytes instanceof Promise ? bytes.then(write) : write(bytes);
    };
    const whenDrained = (): Promise<void> | undefined =>
      writer.waiting > restAbove && !out.destroyed ? writer.drained() : undefined;
    backpressure.limit(() => (encoding === undefined ? whenDrained() : encoding.then(whenDrained)));
    const running = events.subscribe({
      next: (item) => {
        try {
          const work = encoding === undefined ? tell(item) : encoding.then(() => tell(item));
          if (work !== undefined) hold(work);
        } catch (error) {
          fail(error);
        }
      },
      error: () => {
        abort();
        finish();
      },
      complete: () => (encoding === undefined ? end() : hold(encoding.then(end))),
    });
    subscription.add(running);
    out.once('close', finish);
    if (out.destroyed) finish();
  });
}
