import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../runtime/logger.js';
import { atRevision } from '../document.js';
import type { FanOut } from '../fan-out.js';
import type { History, WrittenChange } from '../history.js';
import { type Entry, HistoryCompacted, type Revision } from '../store.js';
import type { EtcdClient } from './etcd-client.js';
import type { EtcdEntries } from './etcd-entries.js';
import type { KeyValue, WatchEvent, WatchResponse } from './messages.js';
import { SerialQueue } from './serial-queue.js';

const firstBackoffMs = 50;
const longestBackoffMs = 2_000;

interface EtcdWatchParts {
  readonly entries: EtcdEntries;
  /** The history that the watch fills. */
  readonly history: History;
  /** The subscribers to that history. */
  readonly fanOut: FanOut;
  readonly clock: Clock;
  readonly log: Logger;
  /**
   * Called when a watch begins; rejects if etcd has gone back to an older state, so that the watch would send nothing.
   */
  readonly checkWentOn: () => Promise<void>;
  /** Aborted when the store is closed. */
  readonly signal: AbortSignal;
}

/**
 * One watch over all keys of a store, which fills its history. When it breaks, the next one starts after the last
 * revision seen.
 */
export class EtcdWatch {
  readonly #client: EtcdClient;
  readonly #entries: EtcdEntries;
  readonly #history: History;
  readonly #fanOut: FanOut;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #checkWentOn: () => Promise<void>;
  readonly #signal: AbortSignal;
  /** The events received so far of a revision that may have more. */
  #partial: WatchEvent[] = [];

  constructor(client: EtcdClient, { entries, history, fanOut, clock, log, checkWentOn, signal }: EtcdWatchParts) {
    this.#client = client;
    this.#entries = entries;
    this.#history = history;
    this.#fanOut = fanOut;
    this.#clock = clock;
    this.#log = log;
    this.#checkWentOn = checkWentOn;
    this.#signal = signal;
  }

  /** Watches until the store is closed. */
  async run(): Promise<void> {
    const signal = this.#signal;
    let backoff = firstBackoffMs;
    while (!signal.aborted) {
      const before = this.#history.newest;
      const error = await this.#watchOnce();
      if (signal.aborted) return;
      if (this.#history.newest > before) backoff = firstBackoffMs;
      this.#log.warn({ err: error, revision: this.#history.newest }, 'the watch on etcd ended; starting it again');
      await this.#clock.sleep(backoff, signal);
      backoff = Math.min(backoff * 2, longestBackoffMs);
    }
  }

  /** Resolves with the reason why the watch ended. */
  #watchOnce(): Promise<unknown> {
    const signal = this.#signal;
    this.#partial = [];
    return new Promise((resolve) => {
      let isOver = false;
      const end = (failure: unknown): void => {
        isOver = true;
        signal.removeEventListener('abort', onAbort);
        stop();
        resolve(failure);
      };
      const onAbort = (): void => end(undefined);
      const request = {
        ...this.#entries.fullRange,
        startRevision: this.#history.newest + 1n,
      };
      const take = (response: WatchResponse): void => {
        try {
          if (response.created) this.#checkWentOn().catch(end);
          this.#take(response);
          if (response.canceled) end(whyCanceled(response));
        } catch (error) {
          end(error);
        }
      };
      const queue = new SerialQueue();
      const stop = this.#client.watch(request, {
        response: (response) => {
          const { events } = response;
          const prepared = this.#entries.prepare(events.flatMap(({ kv, previous }) => [kv, previous]));
          queue.run(prepared, () => {
            if (!isOver) take(response);
          });
        },
        ended: (error) => queue.run(undefined, () => end(error)),
      });
      signal.addEventListener('abort', onAbort);
    });
  }

  #take({ events, compactRevision, fragment }: WatchResponse): void {
    const now = this.#clock.now();
    for (const event of events) {
      if (event.kv.modRevision !== this.#partial[0]?.kv.modRevision) this.#takeRevision(now);
      this.#partial.push(event);
    }
    if (!fragment) this.#takeRevision(now);
    if (compactRevision > this.#history.newest) this.#lose(compactRevision);
    this.#fanOut.deliver();
  }

  /**
   * Handles all events of one revision. This store writes one key per revision; several were written by another
   * program.
   */
  #takeRevision(now: number): void {
    const [event, ...more] = this.#partial;
    this.#partial = [];
    if (event === undefined || event.kv.modRevision <= this.#history.newest) return;
    const { modRevision } = event.kv;
    const isEntry = ({ kv }: WatchEvent): boolean => kv.key.startsWith(this.#entries.etcdKey(''));
    if (more.length > 0 && [event, ...more].some(isEntry)) {
      this.#log.warn({ revision: String(modRevision) }, 'another client wrote several keys in one etcd transaction');
      this.#lose(modRevision);
      return;
    }
    const change = isEntry(event) ? this.#changeFrom(event) : undefined;
    if (change === 'incomplete') this.#lose(modRevision);
    else if (change === undefined) this.#history.advance(modRevision);
    else this.#history.append(change, now);
  }

  /** Handles the loss of the changes up to a revision. */
  #lose(revision: Revision): void {
    const { newest } = this.#history;
    this.#history.restart(revision);
    this.#fanOut.cutOff(new HistoryCompacted(newest, revision));
  }

  /**
   * Returns the change of an event; 'incomplete' if etcd no longer had the previous value. A change that cannot be read
   * is not published.
   */
  #changeFrom({ type, kv, previous }: WatchEvent): WrittenChange | 'incomplete' {
    const before = previous && this.#toldEntry(previous);
    if (type === 'delete')
      return before === undefined
        ? 'incomplete'
        : { type, entry: atRevision(before, kv.modRevision), previous: before };
    if (before === undefined && kv.createRevision !== kv.modRevision) return 'incomplete';
    return { type, entry: this.#toldEntry(kv), previous: before };
  }

  #toldEntry(kv: KeyValue): Entry {
    return this.#entries.anyEntry(kv, (error) =>
      this.#log.error({ err: error, key: kv.key }, 'a change in etcd cannot be decoded and is not delivered'),
    );
  }
}

/** Returns why a watch was canceled. etcd gives no reason if the start revision is compacted. */
const whyCanceled = ({ compactRevision, cancelReason }: WatchResponse): string =>
  compactRevision > 0n ? `etcd has compacted what came before revision ${compactRevision}` : cancelReason;
