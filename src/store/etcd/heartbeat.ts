import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../runtime/logger.js';
import type { History } from '../history.js';
import type { Revision } from '../store.js';
import type { EtcdClient } from './etcd-client.js';

/** The time that a reader waits for a revision before a heartbeat is written for it, in milliseconds. */
const impatienceMs = 100;

interface HeartbeatParts {
  /** The key that heartbeats are written to. */
  readonly key: string;
  readonly history: History;
  readonly clock: Clock;
  readonly log: Logger;
  /** Returns etcd's current revision. */
  readonly revision: () => Promise<Revision>;
  /** Aborted when the store is closed. */
  readonly signal: AbortSignal;
}

/**
 * Writes heartbeats. A watch is complete up to its last event, and etcd 3.4 has no progress requests. If a reader knows
 * of a later revision and no event comes, a heartbeat is written to a key reserved for it; its event shows that the
 * watch has got that far.
 */
export class Heartbeat {
  readonly #client: EtcdClient;
  readonly #key: string;
  readonly #history: History;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #revision: () => Promise<Revision>;
  readonly #signal: AbortSignal;
  /** The latest revision in any response. */
  #heard: Revision;
  /** The revision of the last heartbeat of any server, as far as known here. */
  #beaten: Revision = 0n;
  /** The revision up to which events are awaited; if they do not come, a heartbeat is due. 0 if nothing is awaited. */
  #hurrying: Revision = 0n;

  /** `now` is etcd's revision at the start. */
  constructor(client: EtcdClient, now: Revision, { key, history, clock, log, revision, signal }: HeartbeatParts) {
    this.#client = client;
    this.#heard = now;
    this.#key = key;
    this.#history = history;
    this.#clock = clock;
    this.#log = log;
    this.#revision = revision;
    this.#signal = signal;
  }

  get heard(): Revision {
    return this.#heard;
  }

  get lastBeat(): Revision {
    return this.#beaten;
  }

  /** Records the revision at which the last heartbeat was found. */
  found(revision: Revision): void {
    this.#beaten = revision;
  }

  /** Records that a response mentioned a revision. */
  hear(revision: Revision): void {
    if (revision > this.#heard) this.#heard = revision;
  }

  /** Writes a heartbeat, whose event shows that the watch has delivered everything before it. */
  async beat(): Promise<Revision> {
    const key = this.#key;
    const { revision } = await this.#client.txn({
      // A version is never negative, so this never holds.
      compare: [{ key, target: 'version', equals: -1n }],
      success: { range: { key } },
      failure: [{ put: { key, value: Buffer.alloc(0) } }],
    });
    if (revision > this.#beaten) this.#beaten = revision;
    return revision;
  }

  /** Called when a reader waits for a revision that has had no event. One heartbeat serves all readers that wait. */
  async requestRevision(revision: Revision): Promise<void> {
    const isWaiting = this.#hurrying > 0n;
    if (revision > this.#hurrying) this.#hurrying = revision;
    if (isWaiting) return;
    await this.#clock.sleep(impatienceMs, this.#signal);
    const upTo = this.#hurrying;
    this.#hurrying = 0n;
    if (this.#signal.aborted || this.#history.newest >= upTo) return;
    // If etcd has not gone past the history, no event is missing: the awaited revision is still to come.
    const reached = await this.#revision().catch(() => upTo);
    if (this.#history.newest >= reached) return;
    await this.beat().catch((error: unknown) => this.#log.warn({ err: error }, 'cannot write a heartbeat to etcd'));
  }

  /** Writes heartbeats, until the store is closed, so that streams without changes report progress. */
  async run(everyMs: number): Promise<void> {
    const signal = this.#signal;
    while (true) {
      const { newest } = this.#history;
      await this.#clock.sleep(everyMs, signal);
      if (signal.aborted) return;
      if (this.#history.newest > newest || this.#heard <= newest) continue;
      await this.requestRevision(this.#heard);
    }
  }
}
