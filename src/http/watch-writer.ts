import type { Writable } from 'node:stream';
import type { EventEncoder } from '../apiserver/represent.js';
import type { WatchResult } from '../apiserver/request.js';
import { Subscription } from '../runtime/observable.js';

/** Bytes that may wait for a slow reader before its watch is cut off. It resumes from its last version. */
const backlogLimit = 16 * 1024 * 1024;

/**
 * Writes the events of a watch to its caller as they come. The stream ends with the watch; a caller that goes
 * away, or does not read, ends the watch.
 */
export function writeWatch(
  { events }: WatchResult,
  encode: EventEncoder,
  out: Writable,
  cut: () => void,
): Promise<void> {
  return new Promise((resolve) => {
    // Made before subscribing: a watch may be over before it has begun.
    const subscription = new Subscription();
    const finish = (): void => {
      subscription.unsubscribe();
      resolve();
    };
    const running = events.subscribe({
      next: (item) => {
        if (out.destroyed || out.writableEnded) return;
        out.write(encode(item));
        if (out.writableLength > backlogLimit) {
          cut();
          finish();
        }
      },
      error: () => {
        cut();
        finish();
      },
      complete: () => {
        out.end();
        finish();
      },
    });
    subscription.add(running);
    out.once('close', finish);
    if (out.destroyed) finish();
  });
}
