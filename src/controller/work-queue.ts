import { noLongerNeeded } from '../runtime/abort.js';
import type { Clock } from '../runtime/clock.js';
import { type Backoff, defaultBackoff } from './backoff.js';

/**
 * A work queue as in client-go: a key is queued at most once however often it is added, never goes to two workers at a
 * time, and is queued again if it was added while a worker had it.
 */
export interface WorkQueue<K> {
  /** Adds a key. If it is added with several delays, the earliest time counts. Ignored after shutdown. */
  add(key: K, delayMs?: number): void;
  /** Returns the next key, in the order they became due; undefined after shutdown when no due key is left. */
  take(): Promise<WorkItem<K> | undefined>;
  /** Drops delayed keys and ignores new ones; due keys can still be taken. */
  shutDown(): void;
  /** The number of due keys that have not been taken. */
  readonly depth: number;
}

export interface WorkItem<K> {
  readonly key: K;
  /** 1 on the first attempt; grows with every retry; reset by a success. */
  readonly attempt: number;
  /**
   * Ends the work on the key. `retry` queues it again after the backoff; `afterMs` counts as success. Only the first
   * call counts.
   */
  settle(outcome: 'done' | 'retry' | { readonly afterMs: number }): void;
}

export interface WorkQueueOptions<K> {
  readonly clock: Clock;
  /** Returns the text of a key; keys with the same text are the same. */
  readonly identity: (key: K) => string;
  readonly backoff?: Backoff;
  readonly events?: QueueEvents | undefined;
}

/** Events of a queue, for metrics. */
interface QueueEvents {
  /** A key was added that was not queued or waiting to be. */
  added(): void;
  /** A worker took a key that had waited this many milliseconds. */
  taken(waitedMs: number): void;
  /** A key is to be added later. */
  delayed(): void;
}

export const createWorkQueue = <K>(options: WorkQueueOptions<K>): WorkQueue<K> => new KeyedQueue(options);

/** Works through a queue until it is shut down or the signal aborts. */
export async function processQueue<K>(
  queue: WorkQueue<K>,
  signal: AbortSignal,
  work: (item: WorkItem<K>) => Promise<void>,
): Promise<void> {
  for (let item = await queue.take(); item !== undefined && !signal.aborted; item = await queue.take()) {
    await work(item);
  }
}

class KeyedQueue<K> implements WorkQueue<K> {
  readonly #clock: Clock;
  readonly #identity: (key: K) => string;
  readonly #backoff: Backoff;
  /** The due keys in order; the next one is at `#head`. */
  #ready: string[] = [];
  #head = 0;
  /** The keys with work to do: those in `#ready`, and those added while a worker has them. */
  readonly #dirty = new Map<string, { readonly key: K; readonly since: number }>();
  readonly #working = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #delayed = new Delays<K>();
  readonly #takers: ((item: WorkItem<K> | undefined) => void)[] = [];
  readonly #events: QueueEvents | undefined;
  #alarm: { readonly at: number; readonly stop: AbortController } | undefined;
  #closed = false;

  constructor({ clock, identity, backoff, events }: WorkQueueOptions<K>) {
    this.#clock = clock;
    this.#events = events;
    this.#identity = identity;
    this.#backoff = backoff ?? defaultBackoff(clock);
  }

  get depth(): number {
    return this.#ready.length - this.#head;
  }

  add(key: K, delayMs = 0): void {
    if (this.#closed) return;
    const id = this.#identity(key);
    if (delayMs > 0) {
      this.#events?.delayed();
      this.#delayed.put(id, key, this.#clock.monotonic() + delayMs);
      this.#setAlarm();
      return;
    }
    if (this.#dirty.has(id)) return;
    this.#dirty.set(id, { key, since: this.#clock.monotonic() });
    this.#events?.added();
    if (!this.#working.has(id)) this.#push(id);
  }

  take(): Promise<WorkItem<K> | undefined> {
    const item = this.#next();
    if (item !== undefined || this.#closed) return Promise.resolve(item);
    return new Promise((resolve) => this.#takers.push(resolve));
  }

  shutDown(): void {
    this.#closed = true;
    this.#alarm?.stop.abort(noLongerNeeded);
    this.#alarm = undefined;
    this.#delayed.clear();
    for (const taker of this.#takers.splice(0)) taker(undefined);
  }

  #push(id: string): void {
    this.#ready.push(id);
    const taker = this.#takers.shift();
    if (taker !== undefined) taker(this.#next());
  }

  #next(): WorkItem<K> | undefined {
    const id = this.#ready[this.#head];
    if (id === undefined) return undefined;
    this.#head++;
    if (this.#head > 1_024 && this.#head * 2 > this.#ready.length) {
      this.#ready = this.#ready.slice(this.#head);
      this.#head = 0;
    }
    const { key, since } = this.#dirty.get(id) as { readonly key: K; readonly since: number };
    this.#dirty.delete(id);
    this.#events?.taken(this.#clock.monotonic() - since);
    this.#working.add(id);
    const failures = this.#failures.get(id) ?? 0;
    let settled = false;
    return {
      key,
      attempt: failures + 1,
      settle: (outcome) => {
        if (settled) return;
        settled = true;
        this.#settle(id, key, failures, outcome);
      },
    };
  }

  #settle(id: string, key: K, failures: number, outcome: Parameters<WorkItem<K>['settle']>[0]): void {
    this.#working.delete(id);
    if (outcome === 'retry') this.#failures.set(id, failures + 1);
    else this.#failures.delete(id);
    if (this.#dirty.has(id) && !this.#closed) this.#push(id);
    if (outcome === 'retry') this.add(key, Math.max(1, this.#backoff(failures + 1)));
    else if (outcome !== 'done') this.add(key, outcome.afterMs);
  }

  #setAlarm(): void {
    const at = this.#delayed.earliest();
    if (at === undefined || (this.#alarm !== undefined && this.#alarm.at <= at)) return;
    this.#alarm?.stop.abort(noLongerNeeded);
    const alarm = { at, stop: new AbortController() };
    this.#alarm = alarm;
    // In whole milliseconds, rounded up, because a timer that fires slightly too early finds nothing due.
    const waitMs = Math.max(0, Math.ceil(at - this.#clock.monotonic()));
    void this.#clock.sleep(waitMs, alarm.stop.signal).then(() => {
      if (this.#alarm !== alarm) return;
      this.#alarm = undefined;
      for (const key of this.#delayed.due(this.#clock.monotonic())) this.add(key);
      this.#setAlarm();
    });
  }
}

/** Superseded times may make up half of the heap, and this many more. */
const fewStale = 64;

/** Keys with a time, in a binary heap by time. Only the earliest time of each key counts. */
export class Delays<K> {
  #heap: { readonly id: string; readonly at: number }[] = [];
  readonly #live = new Map<string, { readonly key: K; readonly at: number }>();

  /** The number of times in the heap, including superseded ones. */
  get size(): number {
    return this.#heap.length;
  }

  put(id: string, key: K, at: number): void {
    const known = this.#live.get(id);
    if (known !== undefined && known.at <= at) return;
    this.#live.set(id, { key, at });
    this.#heap.push({ id, at });
    this.#rise(this.#heap.length - 1);
    if (this.#heap.length > 2 * this.#live.size + fewStale) this.#rebuild();
  }

  earliest(): number | undefined {
    this.#dropStale();
    return this.#heap[0]?.at;
  }

  /** Removes and returns every key that is due. */
  due(now: number): readonly K[] {
    const keys: K[] = [];
    for (let at = this.earliest(); at !== undefined && at <= now; at = this.earliest()) {
      const id = this.#pop();
      const known = this.#live.get(id);
      if (known === undefined) continue;
      this.#live.delete(id);
      keys.push(known.key);
    }
    return keys;
  }

  clear(): void {
    this.#heap = [];
    this.#live.clear();
  }

  /** A sorted array is a heap. */
  #rebuild(): void {
    this.#heap = Array.from(this.#live, ([id, { at }]) => ({ id, at })).sort((a, b) => a.at - b.at);
  }

  #dropStale(): void {
    for (let top = this.#heap[0]; top !== undefined && this.#live.get(top.id)?.at !== top.at; top = this.#heap[0]) {
      this.#pop();
    }
  }

  #timeAt(index: number): number {
    return this.#heap[index]?.at ?? Number.POSITIVE_INFINITY;
  }

  #swap(a: number, b: number): void {
    const [first, second] = [this.#heap[a], this.#heap[b]];
    if (first === undefined || second === undefined) return;
    this.#heap[a] = second;
    this.#heap[b] = first;
  }

  #rise(start: number): void {
    let index = start;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (this.#timeAt(parent) <= this.#timeAt(index)) return;
      this.#swap(parent, index);
      index = parent;
    }
  }

  #pop(): string {
    const top = this.#heap[0];
    const last = this.#heap.pop();
    if (top === undefined || last === undefined) return '';
    if (this.#heap.length > 0) {
      this.#heap[0] = last;
      let index = 0;
      while (true) {
        const left = 2 * index + 1;
        const least = this.#timeAt(left + 1) < this.#timeAt(left) ? left + 1 : left;
        if (this.#timeAt(least) >= this.#timeAt(index)) break;
        this.#swap(least, index);
        index = least;
      }
    }
    return top.id;
  }
}
