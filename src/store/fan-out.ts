import { type Clock, systemClock } from '../runtime/clock.js';
import { setImmediate } from '../runtime/event-loop.js';
import { Observable, type Subscriber } from '../runtime/observable.js';
import { UnreadEntry } from './document.js';
import type { History, WrittenChange } from './history.js';
import {
  type Change,
  type ChangeStream,
  type Entry,
  HistoryCompacted,
  type Revision,
  SubscriberTooSlow,
} from './store.js';

export interface FanOutOptions {
  readonly clock?: Clock;
  /** The interval of progress reports to subscribers without changes while the store moved on; default 5 seconds. */
  readonly progressMs?: number;
}

/** A subscriber with its position in the history. */
interface Cursor {
  readonly prefix: string;
  readonly after: Revision;
  readonly subscriber: Subscriber<Change>;
  /** Position in the history of the next change to look at. */
  next: number;
  /** The last revision sent to the subscriber; -1 before any. */
  sent: Revision;
}

/** Limits on the changes that a subscriber in the past receives, and inspects, before other work has a turn. */
const sentAtOnce = 256;
const shownAtOnce = 4_096;
const oneTurn = 256;
/** The number of live subscribers that are called before other work has a turn. */
const calledAtOnce = 1_024;

/**
 * Delivers every change in a history to all subscribers to a prefix of its key.
 *
 * Subscribers have no queues: each is a position in the shared history, which is bounded. A subscriber that has seen
 * everything is live and is called as part of the write, in the order of writes; if there are very many, they are
 * called over several turns of the event loop. Such a call must be short, and a subscriber that cannot handle a change
 * at once must buffer it itself. A subscriber that starts in the past catches up in slices between other work. Writes
 * made within such a call are delivered after it, to all subscribers in the same order. A subscriber that falls behind
 * the start of the history is cut off with SubscriberTooSlow; one that would receive a document that cannot be read,
 * with HistoryCompacted, as if the history began after it.
 */
export class FanOut {
  readonly #history: History;
  readonly #clock: Clock;
  readonly #progressMs: number;
  readonly #all = new Set<Cursor>();
  readonly #live = new Map<string, Set<Cursor>>();
  /**
   * The number of live subscribers' prefixes of each length. Changes are looked up by these lengths, however many
   * subscribers there are.
   */
  readonly #lengths = new Map<number, number>();
  /** Live subscribers whose start revision has not happened yet. */
  readonly #early = new Set<Cursor>();
  #next: number;
  #delivering = false;
  /** The number of subscribers called in this turn. */
  #called = 0;
  #scheduled = false;
  #end: { readonly error: Error | undefined } | undefined;
  #ticking: AbortController | undefined;

  constructor(history: History, options: FanOutOptions) {
    this.#history = history;
    this.#clock = options.clock ?? systemClock;
    this.#progressMs = options.progressMs ?? 5_000;
    this.#next = history.end;
  }

  /**
   * Returns the changes under a prefix after a revision, as `Store.changes` promises them. Each subscription starts
   * there.
   */
  changes(prefix: string, after: Revision): ChangeStream {
    return new Observable((subscriber) => {
      if (this.#end !== undefined) return finish(subscriber, this.#end.error);
      const { oldest } = this.#history;
      if (after < oldest) return subscriber.error(new HistoryCompacted(after, oldest));
      const cursor: Cursor = { prefix, after, subscriber, next: this.#history.positionAfter(after), sent: -1n };
      this.#all.add(cursor);
      subscriber.add(() => this.#leave(cursor));
      this.#tick();
      this.#catchUp(cursor);
    });
  }

  /** To be called whenever the history has grown or advanced. */
  deliver(): void {
    if (this.#delivering || this.#scheduled) return;
    this.#delivering = true;
    this.#called = 0;
    try {
      for (let turns = 0; this.#next < this.#history.end && turns < oneTurn; turns++) {
        const change = this.#history.at(this.#next);
        if (change === undefined) {
          this.#next = this.#history.begin;
          this.#cutOffOvertaken();
          continue;
        }
        if (!this.#hand(change, this.#next)) break;
        this.#next++;
      }
    } finally {
      this.#delivering = false;
    }
    if (this.#next < this.#history.end) this.#schedule();
    else if (this.#early.size > 0) this.#greetEarly();
  }

  /** Ends all streams, with an error if one is given; later subscriptions end the same way. */
  close(error?: Error): void {
    if (this.#end !== undefined) return;
    this.#end = { error };
    for (const { subscriber } of [...this.#all]) finish(subscriber, error);
  }

  /**
   * Ends the open streams that need the lost part of the history, with an error. Streams that start after it continue: if
   * other processes write to the store, a subscriber may have seen more than this history contains.
   */
  cutOff(error: HistoryCompacted): void {
    for (const { subscriber, after } of [...this.#all]) if (after < error.oldest) subscriber.error(error);
  }

  /** Returns false if some subscribers have not been called yet; those that have been called are past this position. */
  #hand(change: WrittenChange, position: number): boolean {
    const { key, revision } = change.entry;
    const isLost = isUndeliverable(change);
    for (const length of this.#lengths.keys()) {
      if (length > key.length) continue;
      for (const cursor of this.#live.get(key.slice(0, length)) ?? []) {
        if (cursor.next > position) continue;
        if (this.#called === calledAtOnce) return false;
        cursor.next = position + 1;
        if (revision <= cursor.after) continue;
        this.#called++;
        cursor.sent = revision;
        if (isLost) cursor.subscriber.error(new HistoryCompacted(cursor.after, revision));
        else cursor.subscriber.next(change);
      }
    }
    return true;
  }

  #catchUp(cursor: Cursor): void {
    const { subscriber, prefix, after } = cursor;
    let sent = 0;
    for (let shown = 0; cursor.next < this.#history.end; shown++) {
      if (subscriber.closed) return;
      if (sent >= sentAtOnce || shown >= shownAtOnce) {
        setImmediate(() => this.#catchUp(cursor));
        return;
      }
      const change = this.#history.at(cursor.next);
      if (change === undefined) {
        subscriber.error(tooSlow());
        return;
      }
      cursor.next++;
      if (!change.entry.key.startsWith(prefix)) continue;
      if (isUndeliverable(change)) {
        subscriber.error(new HistoryCompacted(after, change.entry.revision));
        return;
      }
      sent++;
      cursor.sent = change.entry.revision;
      subscriber.next(change);
    }
    if (subscriber.closed) return;
    this.#join(cursor);
    if (this.#history.newest < after) this.#early.add(cursor);
    else this.#sendProgress(cursor);
  }

  #sendProgress(cursor: Cursor): void {
    cursor.sent = this.#history.newest;
    cursor.subscriber.next({ type: 'progress', revision: cursor.sent });
  }

  #greetEarly(): void {
    for (const cursor of [...this.#early]) {
      if (this.#history.newest < cursor.after) continue;
      this.#early.delete(cursor);
      this.#sendProgress(cursor);
    }
  }

  #cutOffOvertaken(): void {
    for (const cursor of [...this.#all]) {
      if (cursor.next < this.#history.begin && this.#isLive(cursor)) cursor.subscriber.error(tooSlow());
    }
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.deliver();
    });
  }

  #isLive(cursor: Cursor): boolean {
    return this.#live.get(cursor.prefix)?.has(cursor) === true;
  }

  #join(cursor: Cursor): void {
    const { prefix } = cursor;
    const group = this.#live.get(prefix);
    if (group !== undefined) {
      group.add(cursor);
      return;
    }
    this.#live.set(prefix, new Set([cursor]));
    this.#lengths.set(prefix.length, (this.#lengths.get(prefix.length) ?? 0) + 1);
  }

  #leave(cursor: Cursor): void {
    this.#all.delete(cursor);
    this.#early.delete(cursor);
    const { prefix } = cursor;
    const group = this.#live.get(prefix);
    if (group?.delete(cursor) && group.size === 0) {
      this.#live.delete(prefix);
      const others = (this.#lengths.get(prefix.length) ?? 1) - 1;
      if (others === 0) this.#lengths.delete(prefix.length);
      else this.#lengths.set(prefix.length, others);
    }
    if (this.#all.size > 0) return;
    this.#ticking?.abort();
    this.#ticking = undefined;
  }

  /** Runs while there are subscribers. */
  async #tick(): Promise<void> {
    if (this.#ticking !== undefined) return;
    const ticking = new AbortController();
    this.#ticking = ticking;
    while (true) {
      await this.#clock.sleep(this.#progressMs, ticking.signal);
      if (ticking.signal.aborted) return;
      if (this.#next < this.#history.end) continue;
      const { newest } = this.#history;
      for (const group of [...this.#live.values()]) {
        for (const cursor of [...group]) {
          if (!this.#early.has(cursor) && cursor.sent < newest) this.#sendProgress(cursor);
        }
      }
    }
  }
}

const isUndeliverable = ({ entry, previous }: WrittenChange): boolean =>
  isUnreadable(entry) || (previous !== undefined && isUnreadable(previous));

const isUnreadable = (entry: Entry): boolean => entry instanceof UnreadEntry && !entry.isReadable();

const tooSlow = (): SubscriberTooSlow => new SubscriberTooSlow('a subscriber fell behind the retained history');

function finish(subscriber: Subscriber<never>, error: Error | undefined): void {
  if (error === undefined) subscriber.complete();
  else subscriber.error(error);
}
