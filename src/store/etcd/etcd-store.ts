import { randomBytes } from 'node:crypto';
import { withTimeout } from '../../runtime/abort.js';
import { type Clock, systemClock } from '../../runtime/clock.js';
import { type Logger, silentLogger } from '../../runtime/logger.js';
import { Observable } from '../../runtime/observable.js';
import { atRevision } from '../document.js';
import { type Encryption, needsRewrite, ResourceEncryption } from '../encryption/encryption.js';
import { FanOut } from '../fan-out.js';
import { History, type HistoryLimits } from '../history.js';
import { isKey } from '../key-order.js';
import {
  type ChangeStream,
  type Entry,
  HistoryCompacted,
  type Revision,
  RevisionInFuture,
  type Scan,
  type ScanOptions,
  type Store,
  StoreClosed,
  type Write,
  WriteConflict,
} from '../store.js';
import { StoreUnavailable } from '../store-unavailable.js';
import { changeOf, checkWrite } from '../write.js';
import { compactNowAndThen, compactTo, oldestKept } from './compaction.js';
import type { EtcdClient, EtcdClientOptions } from './etcd-client.js';
import { EtcdEntries } from './etcd-entries.js';
import { RevisionOutOfRange } from './etcd-failures.js';
import { etcdDefaults } from './etcd-options.js';
import type { EtcdFiles } from './etcd-secrets.js';
import { EtcdWatch } from './etcd-watch.js';
import { Heartbeat } from './heartbeat.js';
import {
  type Compare,
  endOfRange,
  type Operation,
  type RangeRequest,
  type RangeResponse,
  type TxnResponse,
} from './messages.js';
import { encodeValue, hasNonce } from './stored-value.js';

export interface EtcdStoreOptions extends EtcdClientOptions, HistoryLimits {
  /** The files with the secrets for connections to members; each is read again when it changes. */
  readonly secrets?: EtcdFiles;
  /** The prefix of all keys of this store in etcd. Default `/kedge`. */
  readonly prefix?: string;
  /** The encryption of documents in etcd. Default: none. */
  readonly encryption?: Encryption;
  readonly clock?: Clock;
  readonly log?: Logger;
  /** The interval of progress reports in streams without changes, in milliseconds; default 5 seconds. */
  readonly progressMs?: number;
  /** If nothing is under the prefix yet, revisions begin after this one. Default 0. */
  readonly after?: Revision;
  /** Fail if no entry is under the prefix, instead of creating a store. */
  readonly mustExist?: boolean;
  /** The number of revisions before the opening that are read into memory for streams that start there. Default 10,000. */
  readonly replay?: number;
  /**
   * The interval in milliseconds at which etcd's history is compacted to the revision of one interval before; 0 for
   * never. Default `historyMs`. Each time, one of the servers does it.
   */
  readonly compactEveryMs?: number;
  /** Wraps the connection, for tests that make it fail. */
  readonly wrapClient?: (client: EtcdClient) => EtcdClient;
}

const scanAtOnce = 2_000;
const commitAttempts = 3;
const catchUpMs = 5_000;

/**
 * The distributed store: etcd v3, shared by several servers.
 *
 * Reads and writes go to etcd and are linearizable. A revision is etcd's own, plus an offset if the store took over
 * from another. Changes come from one watch over everything (`EtcdWatch`), which fills a history in memory that serves
 * all streams. If a reader knows of a later revision and no event comes, a heartbeat produces one (`Heartbeat`). That
 * happens only if another program writes to the same etcd, or if it is not known whether an object was created.
 *
 * Below the prefix, entries are in `entries`, and values that the servers agree on in `meta/`: the heartbeat, who
 * compacts, and the offset of revisions.
 */
export class EtcdStore implements Store {
  readonly #client: EtcdClient;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #encryption: Encryption;
  readonly #entries: EtcdEntries;
  readonly #history: History;
  readonly #fanOut: FanOut;
  readonly #heartbeat: Heartbeat;
  readonly #stop = new AbortController();
  readonly #loops: Promise<void>[];
  #failure: StoreClosed | undefined;

  constructor(
    client: EtcdClient,
    start: { readonly after: Revision; readonly now: Revision },
    options: EtcdStoreOptions,
  ) {
    const { clock = systemClock, log = silentLogger, encryption = new ResourceEncryption() } = options;
    const entries = new EtcdEntries(options.prefix ?? etcdDefaults.prefix, encryption);
    const history = new History(start.after, options);
    const fanOut = new FanOut(history, options);
    const { signal } = this.#stop;
    const revision = (): Promise<Revision> => this.revision();
    const key = entries.metaKey('heartbeat');
    this.#client = client;
    this.#clock = clock;
    this.#log = log;
    this.#encryption = encryption;
    this.#entries = entries;
    this.#history = history;
    this.#fanOut = fanOut;
    this.#heartbeat = new Heartbeat(client, start.now, { key, history, clock, log, revision, signal });
    const checkWentOn = (): Promise<void> => this.#checkWentOn();
    const watch = new EtcdWatch(client, { entries, history, fanOut, clock, log, checkWentOn, signal });
    this.#loops = [watch.run(), this.#heartbeat.run(options.progressMs ?? 5_000)];
    const everyMs = options.compactEveryMs ?? options.historyMs ?? etcdDefaults.compactionSeconds * 1_000;
    if (everyMs > 0) {
      const heard = (): Revision => this.#heartbeat.heard;
      this.#loops.push(
        compactNowAndThen(client, { key: entries.metaKey('compaction'), everyMs, heard, clock, log, signal }),
      );
    }
  }

  async get(key: string): Promise<Entry | undefined> {
    this.#checkOpen();
    if (!isKey(key)) return undefined;
    const { kvs } = await this.#range({ key: this.#entries.etcdKey(key) });
    return kvs[0] && this.#entries.entry(kvs[0]);
  }

  async scan(
    prefix: string,
    { at, after, limit = Number.POSITIVE_INFINITY, tolerant = false }: ScanOptions = {},
  ): Promise<Scan> {
    this.#checkOpen();
    const low = this.#entries.etcdKey(prefix);
    const next = after === undefined ? low : `${this.#entries.etcdKey(after)}\0`;
    const rangeEnd = endOfRange(low);
    let key = Buffer.compare(Buffer.from(next), Buffer.from(low)) > 0 ? next : low;
    const entries: Entry[] = [];
    let revision = at;
    while (true) {
      const atOnce = Math.min(scanAtOnce, limit - entries.length);
      // To etcd, a limit of 0 means no limit.
      const page = await this.#rangeAt({ key, rangeEnd, limit: Math.max(1, atOnce) }, revision);
      revision ??= page.revision;
      const kvs = page.kvs.slice(0, atOnce);
      for (const kv of kvs) entries.push(tolerant ? this.#entries.anyEntry(kv) : this.#entries.entry(kv));
      const last = kvs.at(-1);
      const remaining = page.count - kvs.length;
      if (remaining === 0 || entries.length >= limit || last === undefined) return { entries, revision, remaining };
      key = `${last.key}\0`;
    }
  }

  async commit(write: Write): Promise<Entry> {
    this.#checkOpen();
    checkWrite(write);
    const encoded = this.#encode(write);
    const since = this.#heartbeat.heard;
    let unsure: StoreUnavailable | undefined;
    for (let attempt = 0; attempt < commitAttempts; attempt++) {
      try {
        // The key is absent again if what an earlier attempt created has been deleted; a revision never comes back.
        // Writing a heartbeat finds that out, and no earlier attempt can succeed after it.
        const mayBeGone =
          unsure !== undefined && write.expect === 'absent' && (await this.#mayHaveChanged(write.key, since));
        // A write that expects revision 0 never succeeds and only reads.
        const answer = await this.#send(mayBeGone ? { ...write, expect: 0n } : write, encoded);
        await this.#entries.prepare(answer.found);
        return this.#outcome(write, encoded, answer, unsure);
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || error === unsure) throw error;
        unsure = error;
        this.#checkOpen();
      }
    }
    throw unsure ?? new StoreUnavailable('etcd does not answer');
  }

  isStale(entry: Entry): boolean {
    return needsRewrite(this.#encryption, entry);
  }

  changes(prefix: string, after: Revision): ChangeStream {
    return new Observable((subscriber) => {
      subscriber.add(this.#fanOut.changes(prefix, after).subscribe(subscriber));
      if (after > this.#history.newest && !subscriber.closed) void this.#heartbeat.requestRevision(after);
    });
  }

  async revision(): Promise<Revision> {
    this.#checkOpen();
    return (await this.#range({ key: this.#entries.metaKey('heartbeat') })).revision;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#fanOut.close();
    await Promise.all(this.#loops);
    this.#client.close();
  }

  /** Compacts the history up to a revision now, in etcd and in memory; for tests. */
  async compact(revision: Revision): Promise<void> {
    this.#checkOpen();
    await this.caughtUp();
    await compactTo(this.#client, revision);
    this.#history.compact(revision);
  }

  /** Resolves when streams have received every change that happened before the call. */
  async caughtUp(signal: AbortSignal = this.#stop.signal): Promise<void> {
    await this.#reached(await this.#heartbeat.beat(), signal);
  }

  async #reached(revision: Revision, signal: AbortSignal): Promise<void> {
    while (this.#history.newest < revision && !signal.aborted) await this.#clock.sleep(2, signal);
  }

  /**
   * Resolves when the recent past is in memory, at least up to a revision. An etcd without space can be read but
   * rejects heartbeats; then only the events of the watch count, and a revision written by another program has none.
   */
  async begin(revision: Revision): Promise<void> {
    try {
      await this.caughtUp();
    } catch (error) {
      if (error instanceof StoreUnavailable || error instanceof StoreClosed) throw error;
      this.#log.warn({ err: error }, 'etcd is read-only');
      await this.#inTime((signal) => this.#reached(revision, signal)).catch(() => this.#checkOpen());
    }
  }

  #encode({ key, document }: Write): EncodedWrite {
    const nonce = randomBytes(8);
    if (document === undefined) return { nonce, keptAs: '', value: Buffer.alloc(0) };
    const keptAs = this.#encryption.writesAs(key);
    const bytes = this.#encryption.encrypt(key, document.bytes);
    return { nonce, keptAs, value: encodeValue({ ...document, bytes }, nonce) };
  }

  /**
   * Makes one attempt. An attempt to create may be delayed by a member or connection that hangs, and meanwhile its key
   * may become absent again; so it succeeds only if no heartbeat has been written since.
   */
  async #send({ key: own, document, expect }: Write, { value }: EncodedWrite): Promise<TxnResponse> {
    const key = this.#entries.etcdKey(own);
    // In etcd an absent key has revision 0, and a write never expects that of an existing one.
    const equals = expect === 'absent' ? 0n : expect === 0n ? -1n : expect;
    const compare: Compare = { key, target: 'modRevision', equals };
    const success: Operation = document === undefined ? { delete: { key } } : { put: { key, value } };
    const readKey: Operation = { range: { key } };
    if (expect !== 'absent') return this.#client.txn({ compare: [compare], success, failure: [readKey] });
    const heartbeat = this.#entries.metaKey('heartbeat');
    while (true) {
      const beat = this.#heartbeat.lastBeat;
      const answer = await this.#client.txn({
        compare: [compare, { key: heartbeat, target: 'modRevision', equals: beat }],
        success,
        failure: [readKey, { range: { key: heartbeat } }],
      });
      const [found, { modRevision: beatNow } = { modRevision: 0n }] = answer.found;
      if (answer.succeeded || found !== undefined || beatNow === beat) return answer;
      this.#heartbeat.found(beatNow);
      this.#checkOpen();
    }
  }

  /**
   * Returns the entry, or throws the error, that a response means. `unsure` is the error of an earlier attempt that may
   * have been executed all the same.
   */
  #outcome(write: Write, encoded: EncodedWrite, answer: TxnResponse, unsure: StoreUnavailable | undefined): Entry {
    const { key, document } = write;
    const { succeeded, revision } = answer;
    const [kv] = answer.found;
    this.#heartbeat.hear(revision);
    if (succeeded && document !== undefined) {
      return this.#entries.written(key, revision, () => changeOf(write, undefined, revision, encoded.keptAs).entry);
    }
    if (succeeded && kv !== undefined) return atRevision(this.#entries.anyEntry(kv), revision);
    if (unsure !== undefined && document !== undefined && kv !== undefined && hasNonce(kv.value, encoded.nonce)) {
      return this.#entries.entry(kv);
    }
    if (unsure !== undefined) throw unsure;
    throw new WriteConflict(key, kv && this.#entries.entry(kv));
  }

  /** Whether a key changed after a revision. Also true if that cannot be found out in time. */
  async #mayHaveChanged(key: string, since: Revision): Promise<boolean> {
    try {
      await this.#inTime((signal) => this.caughtUp(signal));
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      return true;
    }
    if (since < this.#history.oldest) return true;
    for (let position = this.#history.positionAfter(since); ; position++) {
      const change = this.#history.at(position);
      if (change === undefined || change.entry.key === key) return change !== undefined;
    }
  }

  /** Runs `catchUp`. Fails if it takes too long or the store is closed. */
  #inTime(catchUp: (signal: AbortSignal) => Promise<void>): Promise<void> {
    return withTimeout({ clock: this.#clock, milliseconds: catchUpMs, signals: [this.#stop.signal] }, catchUp);
  }

  async #range(request: RangeRequest): Promise<RangeResponse> {
    const response = await this.#client.range(request);
    this.#heartbeat.hear(response.revision);
    await this.#entries.prepare(response.kvs);
    return response;
  }

  async #rangeAt(request: RangeRequest, revision: Revision | undefined): Promise<RangeResponse> {
    if (revision === undefined) return this.#range(request);
    // Revision 0 means the current one to etcd, and the history starts at 1.
    if (revision < 1n) throw new HistoryCompacted(revision, 1n);
    try {
      return await this.#range({ ...request, revision });
    } catch (error) {
      if (!(error instanceof RevisionOutOfRange)) throw error;
      if (error.why === 'future') throw new RevisionInFuture(revision, await this.revision());
      throw new HistoryCompacted(
        revision,
        await oldestKept(this.#client, this.#entries.metaKey('heartbeat'), revision),
      );
    }
  }

  /**
   * Closes the store if etcd has gone back to an older state. An etcd restored from a backup assigns revisions again:
   * its watch sends nothing until it is past the revisions known here, and what is known here may not be part of its
   * history. Only a restart repairs that.
   */
  async #checkWentOn(): Promise<void> {
    const before = this.#heartbeat.heard;
    const { revision } = await this.#client.range({ key: this.#entries.metaKey('heartbeat') });
    if (revision >= before || this.#stop.signal.aborted) return;
    const failure = new StoreClosed(`etcd is at revision ${revision} and was at ${before}: the store was closed`);
    this.#log.error({ err: failure }, 'etcd was restored to an older state; restart the server to continue from it');
    this.#failure = failure;
    this.#stop.abort();
    this.#fanOut.close(failure);
  }

  #checkOpen(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#stop.signal.aborted) throw new StoreClosed('the store is closed');
  }
}

/** The stored form of a document; empty for a deletion. */
interface EncodedWrite {
  readonly nonce: Buffer;
  readonly keptAs: string;
  readonly value: Buffer;
}
