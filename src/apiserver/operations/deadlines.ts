import { badRequest } from '../../api/errors.js';
import { parseDuration } from '../../api/go-duration.js';
import type { Query } from '../../api/options.js';
import { noLongerNeeded } from '../../runtime/abort.js';
import type { Clock } from '../../runtime/clock.js';

/**
 * Returns the time that a request may take, in milliseconds: its `timeout` parameter, if that is positive and shorter
 * than the general limit. Throws BadRequest for an invalid duration.
 */
export function requestTimeout(query: Query, longest: number): number {
  const text = query.get('timeout');
  if (text === undefined || text === '') return longest;
  const parsed = parseDuration(text);
  if (parsed.wrong !== undefined) throw badRequest(`invalid timeout specified in the request URL - ${parsed.wrong}`);
  return parsed.milliseconds > 0 && parsed.milliseconds < longest ? parsed.milliseconds : longest;
}

interface PendingDeadline {
  readonly at: number;
  expire(): void;
}

/**
 * Stops waiting for requests that take too long. Most requests have the same limit and so expire in the order of their
 * arrival: a single timer, for the first of them, is enough for all. Only a shorter limit has a timer of its own.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #longest: number;
  readonly #signal: AbortSignal;
  readonly #waiting = new Set<PendingDeadline>();
  #watching = false;

  /** `longest` is the general limit in milliseconds. Deadlines are no longer enforced once the signal aborts. */
  constructor(clock: Clock, longest: number, signal: AbortSignal) {
    this.#clock = clock;
    this.#longest = longest;
    this.#signal = signal;
  }

  get longest(): number {
    return this.#longest;
  }

  /** Returns the result of the work, or that of `late` once the time is over. The work itself is not stopped. */
  within<T>(milliseconds: number, work: Promise<T>, late: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const stopped = milliseconds < this.#longest ? new AbortController() : undefined;
      const waiting: PendingDeadline = {
        at: this.#clock.monotonic() + milliseconds,
        expire: () => resolve(late()),
      };
      const done = (): void => {
        if (stopped === undefined) this.#waiting.delete(waiting);
        else stopped.abort(noLongerNeeded);
      };
      work.then(
        (value) => {
          done();
          resolve(value);
        },
        (error: unknown) => {
          done();
          reject(error);
        },
      );
      if (stopped === undefined) {
        this.#waiting.add(waiting);
        if (!this.#watching) void this.#watch();
      } else {
        void this.#clock.sleep(milliseconds, stopped.signal).then(() => {
          if (!stopped.signal.aborted) waiting.expire();
        });
      }
    });
  }

  /** Expires the oldest entries when they are due. Runs as long as there are entries, and slightly longer. */
  async #watch(): Promise<void> {
    this.#watching = true;
    while (!this.#signal.aborted) {
      const [first] = this.#waiting;
      if (first === undefined) break;
      const leftMs = first.at - this.#clock.monotonic();
      if (leftMs > 0) await this.#clock.sleep(leftMs, this.#signal);
      const now = this.#clock.monotonic();
      for (const waiting of this.#waiting) {
        if (waiting.at > now) break;
        this.#waiting.delete(waiting);
        waiting.expire();
      }
    }
    this.#watching = false;
  }
}
