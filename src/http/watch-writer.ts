import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { EventEncoder } from '../apiserver/represent-event.js';
import type { WatchResult } from '../apiserver/request.js';
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
    const end = (): void => {
      out.end();
      if (out.writableLength > 0) void taken(out, clock, cut);
      finish();
    };
    pace.limit(() => (out.writableLength > restAbove && !out.destroyed ? taken(out, clock, cut) : undefined));
    const running = events.subscribe({
      next: (item) => {
        if (out.destroyed || out.writableEnded) return;
        try {
          const bytes = encode(item);
          if (bytes === undefined) end();
          else out.write(bytes);
        } catch (error) {
          subscription.unsubscribe();
          reject(error);
        }
      },
      error: () => {
        cut();
        finish();
      },
      complete: end,
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
