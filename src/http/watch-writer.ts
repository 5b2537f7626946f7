import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { EventEncoder } from '../apiserver/represent-event.js';
import type { WatchItem, WatchResult } from '../apiserver/request.js';
import type { Clock } from '../runtime/clock.js';
import { Subscription } from '../runtime/observable.js';

/** With more bytes than this waiting for its reader, a watch rests until all of them are taken. */
const restAbove = 1_048_576;
/** A reader that takes nothing for so long is cut off. It resumes from its last version. */
const patienceMs = 30_000;

/**
 * Writes the events of a watch to its caller as they come, no faster than it reads. The stream ends with the watch, or
 * before an event that has no form; a caller that goes away, or does not read, ends the watch. Rejects if an event cannot
 * be encoded.
 */
export function writeWatch(
  { events, pace }: Pick<WatchResult, 'events' | 'pace'>,
  encode: EventEncoder,
  out: Writable,
  { cut, clock }: { cut(): void; readonly clock: Clock },
): Promise<void> {
  return new Promise((resolve, reject) => {
    // Made before subscribing: a watch may be over before it has begun.
    const subscription = new Subscription();
    const finish = (): void => {
      subscription.unsubscribe();
      resolve();
    };
    /** A large event that is being encoded, and what follows it. Nothing overtakes it, or comes after it if it fails. */
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
      out.end();
      if (out.writableLength > 0) void taken(out, clock, cut);
      finish();
    };
    const write = (bytes: Buffer | undefined): void => {
      if (out.destroyed || out.writableEnded) return;
      if (bytes === undefined) end();
      else out.write(bytes);
    };
    const tell = (item: WatchItem): void | Promise<void> => {
      if (out.destroyed || out.writableEnded) return;
      const bytes = encode(item);
      return bytes instanceof Promise ? bytes.then(write) : write(bytes);
    };
    const room = (): Promise<void> | undefined =>
      out.writableLength > restAbove && !out.destroyed ? taken(out, clock, cut) : undefined;
    pace.limit(() => (encoding === undefined ? room() : encoding.then(room)));
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
        cut();
        finish();
      },
      complete: () => (encoding === undefined ? end() : hold(encoding.then(end))),
    });
    subscription.add(running);
    out.once('close', finish);
    if (out.destroyed) finish();
  });
}

/** Resolves when everything written was taken, or the stream is closed: by `cut`, if nothing is taken for too long. */
async function taken(out: Writable, clock: Clock, cut: () => void): Promise<void> {
  const over = new AbortController();
  const events = Promise.race([
    once(out, 'drain', { signal: over.signal }),
    once(out, 'close', { signal: over.signal }),
  ]).catch(() => {});
  const looking = (async () => {
    for (let left = out.writableLength; !over.signal.aborted; ) {
      await clock.sleep(patienceMs, over.signal);
      if (over.signal.aborted) return;
      if (out.writableLength >= left) return cut();
      left = out.writableLength;
    }
  })();
  await Promise.race([events, looking]);
  over.abort();
}
