import { randomBytes } from 'node:crypto';
import { within } from '../../runtime/abort.js';
import { type Clock, systemClock } from '../../runtime/clock.js';
import { type Logger, silentLogger } from '../../runtime/logger.js';
import { Observable } from '../../runtime/observable.js';
import { atRevision, UnreadEntry, unshared } from '../document.js';
import { type Encryption, ResourceEncryption } from '../encryption/encryption.js';
import { FanOut } from '../fan-out.js';
import { History, type HistoryLimits, type Written } from '../history.js';
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
import { EntryCache } from './entry-cache.js';
import { createEtcdClient, type EtcdClient, type EtcdClientOptions, RevisionOutOfRange } from './etcd-client.js';
import { etcdDefaults } from './etcd-options.js';
import { type EtcdFiles, followSecrets } from './etcd-secrets.js';
import { InOrder } from './in-order.js';
import {
  type Compare,
  endOfRange,
  type KeyValue,
  type Operation,
  type RangeRequest,
  type RangeResponse,
  type TxnResponse,
  type WatchEvent,
  type WatchResponse,
} from './messages.js';
import { withOffset } from './revision-offset.js';
import { decodeEntry, documentIn, encodeValue, hasNonce } from './stored-value.js';

export interface EtcdStoreOptions extends EtcdClientOptions, HistoryLimits {
  /** Where what members are verified by and shown is read from, again whenever it changes. */
  readonly secrets?: EtcdFiles;
  /** Everything of this store is under this in etcd; `/kedge` unless said otherwise. */
  readonly prefix?: string;
  /** How documents are kept in etcd; as they are unless said otherwise. */
  readonly encryption?: Encryption;
  readonly clock?: Clock;
  readonly log?: Logger;
  /** How often streams without changes tell progress, in milliseconds; 5 seconds unless said otherwise. */
  readonly progressMs?: number;
  /** If nothing is under the prefix yet, revisions begin after this one; after 0 unless said otherwise. */
  readonly after?: Revision;
  /** Fail if no entry is under the prefix, and write nothing there. */
  readonly mustExist?: boolean;
  /** How many revisions before the opening are brought into memory for streams that start there; 10,000 unless said otherwise. */
  readonly replay?: number;
  /**
   * How often etcd's history is compacted, in milliseconds, to what it was a time before; as `historyMs` unless said
   * otherwise, 0 for never. Of several servers one does it each time.
   */
  readonly compactEveryMs?: number;
  /** Wraps the connection; for tests that want it to fail. */
  readonly wrapClient?: (client: EtcdClient) => EtcdClient;
}

const defaultReplay = 10_000;
const scanAtOnce = 2_000;
const cacheBytes = 64 * 1_048_576;
const commitAttempts = 3;
const impatienceMs = 100;
const catchUpMs = 5_000;
const firstBackoffMs = 50;
const longestBackoffMs = 2_000;

/**
 * The distributed store: etcd v3, shared by several servers.
 *
 * Reads and writes go to etcd and are linearizable; a revision is etcd's own, moved if the store took over from another.
 * Changes come from one watch over everything, which fills a history in memory that all streams are served from; where the
 * watch breaks it goes on after the last revision it saw. The watch is complete up to the last event it told, and etcd 3.4
 * does not say more; so where a reader knows of a later revision and no event comes, a heartbeat is written to a key of its
 * own, whose event says it. That happens only if something outside of this store writes to the same etcd, or if it is not known whether
 * something was created.
 *
 * Under the prefix, `entries` is followed by the key, and `meta/` by what the servers agree on: the heartbeat, who
 * compacts, and how far revisions are moved.
 */
export class EtcdStore implements Store {
  readonly #client: EtcdClient;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #space: string;
  readonly #encryption: Encryption;
  readonly #cache = new EntryCache(cacheBytes);
  readonly #history: History;
  readonly #fanOut: FanOut;
  readonly #stop = new AbortController();
  readonly #loops: Promise<void>[] = [];
  /** What the watch has told of a revision of which there may be more. */
  #begun: WatchEvent[] = [];
  /** The latest revision heard of in any answer. */
  #heard: Revision;
  /** The revision of the last heartbeat, of whichever server, as far as it is known here. */
  #beaten: Revision = 0n;
  /** A heartbeat is due if no event up to this revision comes by itself. */
  #hurrying: Revision = 0n;
  #failure: StoreClosed | undefined;

  constructor(
    client: EtcdClient,
    start: { readonly after: Revision; readonly now: Revision },
    options: EtcdStoreOptions,
  ) {
    this.#client = client;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log ?? silentLogger;
    this.#space = options.prefix ?? etcdDefaults.prefix;
    this.#encryption = options.encryption ?? new ResourceEncryption();
    this.#history = new History(start.after, options);
    this.#heard = start.now;
    this.#fanOut = new FanOut(this.#history, options);
    const compactEveryMs = options.compactEveryMs ?? options.historyMs ?? etcdDefaults.compactionSeconds * 1_000;
    this.#loops.push(this.#watch(), this.#keepUp(options.progressMs ?? 5_000));
    if (compactEveryMs > 0) {
      this.#loops.push(
        compactNowAndThen(client, {
          key: this.#metaKey('compaction'),
          everyMs: compactEveryMs,
          heard: () => this.#heard,
          clock: this.#clock,
          log: this.#log,
          signal: this.#stop.signal,
        }),
      );
    }
  }

  async get(key: string): Promise<Entry | undefined> {
    this.#checkOpen();
    if (!isKey(key)) return undefined;
    const { kvs } = await this.#range({ key: this.#etcdKey(key) });
    return kvs[0] && this.#entry(kvs[0]);
  }

  async scan(
    prefix: string,
    { at, after, limit = Number.POSITIVE_INFINITY, tolerant = false }: ScanOptions = {},
  ): Promise<Scan> {
    this.#checkOpen();
    const low = this.#etcdKey(prefix);
    const next = after === undefined ? low : `${this.#etcdKey(after)}\0`;
    const rangeEnd = endOfRange(low);
    let key = Buffer.compare(Buffer.from(next), Buffer.from(low)) > 0 ? next : low;
    const entries: Entry[] = [];
    let revision = at;
    while (true) {
      const atOnce = Math.min(scanAtOnce, limit - entries.length);
      // A limit of 0 means none to etcd.
      const page = await this.#rangeAt({ key, rangeEnd, limit: Math.max(1, atOnce) }, revision);
      revision ??= page.revision;
      const kvs = page.kvs.slice(0, atOnce);
      for (const kv of kvs) entries.push(tolerant ? this.#anyEntry(kv) : this.#entry(kv));
      const last = kvs.at(-1);
      const remaining = page.count - kvs.length;
      if (remaining === 0 || entries.length >= limit || last === undefined) return { entries, revision, remaining };
      key = `${last.key}\0`;
    }
  }

  async commit(write: Write): Promise<Entry> {
    this.#checkOpen();
    checkWrite(write);
    const kept = this.#kept(write);
    const since = this.#heard;
    let unsure: StoreUnavailable | undefined;
    for (let attempt = 0; attempt < commitAttempts; attempt++) {
      try {
        // Absence comes back when what an earlier attempt created is deleted; a revision never does. To find out is to
        // write a heartbeat, after which no earlier attempt happens any more.
        const mayBeGone =
          unsure !== undefined && write.expect === 'absent' && (await this.#mayHaveChanged(write.key, since));
        // No write succeeds that expects revision 0: it only looks.
        const answer = await this.#send(mayBeGone ? { ...write, expect: 0n } : write, kept);
        await this.#prepare(answer.found);
        return this.#outcome(write, kept, answer, unsure);
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || error === unsure) throw error;
        unsure = error;
        this.#checkOpen();
      }
    }
    throw unsure ?? new StoreUnavailable('etcd does not answer');
  }

  isStale({ key, keptAs = '' }: Entry): boolean {
    return keptAs !== this.#encryption.writesAs(key);
  }

  changes(prefix: string, after: Revision): ChangeStream {
    return new Observable((subscriber) => {
      subscriber.add(this.#fanOut.changes(prefix, after).subscribe(subscriber));
      if (after > this.#history.newest && !subscriber.closed) void this.#hurry(after);
    });
  }

  async revision(): Promise<Revision> {
    this.#checkOpen();
    return (await this.#range({ key: this.#metaKey('heartbeat') })).revision;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#fanOut.close();
    await Promise.all(this.#loops);
    this.#client.close();
  }

  /** Forgets the history up to a revision now, as time would later, in etcd and here; for tests. */
  async compact(revision: Revision): Promise<void> {
    this.#checkOpen();
    await this.caughtUp();
    await compactTo(this.#client, revision);
    this.#history.compact(revision);
  }

  /** Resolves when every change that happened before the call has been told to streams. */
  async caughtUp(signal: AbortSignal = this.#stop.signal): Promise<void> {
    await this.#reached(await this.#beat(), signal);
  }

  async #reached(revision: Revision, signal: AbortSignal): Promise<void> {
    while (this.#history.newest < revision && !signal.aborted) await this.#clock.sleep(2, signal);
  }

  /**
   * Resolves when the recent past is here, up to a revision at least. An etcd without room takes no heartbeat and can be
   * read: then what its watch tells by itself has to do, and for a revision of others there is none.
   */
  async begin(revision: Revision): Promise<void> {
    try {
      await this.caughtUp();
    } catch (error) {
      if (error instanceof StoreUnavailable || error instanceof StoreClosed) throw error;
      this.#log.warn({ err: error }, 'etcd takes no writes: it can only be read');
      await this.#inTime((signal) => this.#reached(revision, signal)).catch(() => this.#checkOpen());
    }
  }

  #kept({ key, document }: Write): Kept {
    const nonce = randomBytes(8);
    if (document === undefined) return { nonce, keptAs: '', value: Buffer.alloc(0) };
    const keptAs = this.#encryption.writesAs(key);
    const bytes = this.#encryption.encrypt(key, document.bytes);
    return { nonce, keptAs, value: encodeValue({ ...document, bytes }, nonce) };
  }

  /**
   * One attempt. An attempt to create may wait in a member or a connection that is stuck, and its key be absent again when
   * it gets through; so it happens only while nobody has written a heartbeat since.
   */
  async #send({ key: own, document, expect }: Write, { value }: Kept): Promise<TxnResponse> {
    const key = this.#etcdKey(own);
    // An absent key has revision 0 in etcd, and no write expects that of a live one.
    const equals = expect === 'absent' ? 0n : expect === 0n ? -1n : expect;
    const compare: Compare = { key, target: 'modRevision', equals };
    const success: Operation = document === undefined ? { delete: { key } } : { put: { key, value } };
    const look: Operation = { range: { key } };
    if (expect !== 'absent') return this.#client.txn({ compare: [compare], success, failure: [look] });
    const heartbeat = this.#metaKey('heartbeat');
    while (true) {
      const beat = this.#beaten;
      const answer = await this.#client.txn({
        compare: [compare, { key: heartbeat, target: 'modRevision', equals: beat }],
        success,
        failure: [look, { range: { key: heartbeat } }],
      });
      const [there, { modRevision: beatNow } = { modRevision: 0n }] = answer.found;
      if (answer.succeeded || there !== undefined || beatNow === beat) return answer;
      this.#beaten = beatNow;
      this.#checkOpen();
    }
  }

  /** `unsure` is why an earlier attempt may have happened although it failed. */
  #outcome(write: Write, kept: Kept, answer: TxnResponse, unsure: StoreUnavailable | undefined): Entry {
    const { key, document } = write;
    const { succeeded, revision } = answer;
    const [kv] = answer.found;
    this.#hear(revision);
    if (succeeded && document !== undefined) {
      return this.#cache.entry(key, revision, () => changeOf(write, undefined, revision, kept.keptAs).entry);
    }
    if (succeeded && kv !== undefined) return atRevision(this.#anyEntry(kv), revision);
    if (unsure !== undefined && document !== undefined && kv !== undefined && hasNonce(kv.value, kept.nonce)) {
      return this.#entry(kv);
    }
    if (unsure !== undefined) throw unsure;
    throw new WriteConflict(key, kv && this.#entry(kv));
  }

  /** Whether anything happened to a key after a revision, or may have, as far as can be known in time. */
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

  /** Fails if it takes too long or the store is closed. */
  #inTime(catchUp: (signal: AbortSignal) => Promise<void>): Promise<void> {
    return within({ clock: this.#clock, milliseconds: catchUpMs, signals: [this.#stop.signal] }, catchUp);
  }

  async #range(request: RangeRequest): Promise<RangeResponse> {
    const response = await this.#client.range(request);
    this.#hear(response.revision);
    await this.#prepare(response.kvs);
    return response;
  }

  async #rangeAt(request: RangeRequest, revision: Revision | undefined): Promise<RangeResponse> {
    if (revision === undefined) return this.#range(request);
    // Revision 0 means now to etcd; nothing was there before the first.
    if (revision < 1n) throw new HistoryCompacted(revision, 1n);
    try {
      return await this.#range({ ...request, revision });
    } catch (error) {
      if (!(error instanceof RevisionOutOfRange)) throw error;
      if (error.why === 'future') throw new RevisionInFuture(revision, await this.revision());
      throw new HistoryCompacted(revision, await oldestKept(this.#client, this.#metaKey('heartbeat'), revision));
    }
  }

  /** Fetches what it takes to decrypt these. */
  #prepare(kvs: readonly (KeyValue | undefined)[]): Promise<void> | undefined {
    if (this.#encryption.prepare === undefined) return undefined;
    const space = this.#etcdKey('');
    const own = kvs.flatMap((kv) =>
      kv?.key.startsWith(space) ? [{ key: kv.key.slice(space.length), kept: documentIn(kv.value) }] : [],
    );
    return this.#encryption.prepare(own);
  }

  #hear(revision: Revision): void {
    if (revision > this.#heard) this.#heard = revision;
  }

  async #beat(): Promise<Revision> {
    const key = this.#metaKey('heartbeat');
    const { revision } = await this.#client.txn({
      // A version is never negative, so this never holds.
      compare: [{ key, target: 'version', equals: -1n }],
      success: { range: { key } },
      failure: [{ put: { key, value: Buffer.alloc(0) } }],
    });
    if (revision > this.#beaten) this.#beaten = revision;
    return revision;
  }

  /** Somebody waits for a revision that no event told yet. One heartbeat serves all who come while it is due. */
  async #hurry(revision: Revision): Promise<void> {
    const isWaiting = this.#hurrying > 0n;
    if (revision > this.#hurrying) this.#hurrying = revision;
    if (isWaiting) return;
    await this.#clock.sleep(impatienceMs, this.#stop.signal);
    const upTo = this.#hurrying;
    this.#hurrying = 0n;
    if (this.#stop.signal.aborted || this.#history.newest >= upTo) return;
    // Nothing is missing where nothing has happened: who waits for what is yet to come will hear of it.
    const reached = await this.revision().catch(() => upTo);
    if (this.#history.newest >= reached) return;
    await this.#beat().catch((error: unknown) => this.#log.warn({ err: error }, 'cannot write a heartbeat to etcd'));
  }

  async #keepUp(everyMs: number): Promise<void> {
    const { signal } = this.#stop;
    while (true) {
      const { newest } = this.#history;
      await this.#clock.sleep(everyMs, signal);
      if (signal.aborted) return;
      if (this.#history.newest > newest || this.#heard <= newest) continue;
      await this.#hurry(this.#heard);
    }
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stop;
    let backoff = firstBackoffMs;
    while (!signal.aborted) {
      const before = this.#history.newest;
      const error = await this.#watchOnce();
      if (signal.aborted) return;
      if (this.#history.newest > before) backoff = firstBackoffMs;
      this.#log.warn({ err: error, revision: this.#history.newest }, 'the watch on etcd ended and is begun again');
      await this.#clock.sleep(backoff, signal);
      backoff = Math.min(backoff * 2, longestBackoffMs);
    }
  }

  /** Resolves with why it ended. */
  #watchOnce(): Promise<unknown> {
    const { signal } = this.#stop;
    this.#begun = [];
    return new Promise((resolve) => {
      let over = false;
      const end = (why: unknown): void => {
        over = true;
        signal.removeEventListener('abort', onAbort);
        stop();
        resolve(why);
      };
      const onAbort = (): void => end(undefined);
      const request = {
        key: `${this.#space}/`,
        rangeEnd: endOfRange(`${this.#space}/`),
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
      const inOrder = new InOrder();
      const stop = this.#client.watch(request, {
        response: (response) => {
          const { events } = response;
          const prepared = this.#prepare(events.flatMap(({ kv, previous }) => [kv, previous]));
          inOrder.take(prepared, () => {
            if (!over) take(response);
          });
        },
        ended: (error) => inOrder.take(undefined, () => end(error)),
      });
      signal.addEventListener('abort', onAbort);
    });
  }

  /**
   * An etcd that was given an older state, from a backup, gives out revisions again: its watch says nothing until it is
   * past those known here, and what is known here may never have been. Nothing but a new beginning puts that right.
   */
  async #checkWentOn(): Promise<void> {
    const before = this.#heard;
    const { revision } = await this.#client.range({ key: this.#metaKey('heartbeat') });
    if (revision >= before || this.#stop.signal.aborted) return;
    const failure = new StoreClosed(
      `etcd is at revision ${revision} and was at ${before}: the store is closed for good`,
    );
    this.#log.error({ err: failure }, 'etcd has an older state than before; start again to go on from there');
    this.#failure = failure;
    this.#stop.abort();
    this.#fanOut.close(failure);
  }

  #take({ events, compactRevision, goesOn }: WatchResponse): void {
    const now = this.#clock.now();
    for (const event of events) {
      if (event.kv.modRevision !== this.#begun[0]?.kv.modRevision) this.#takeRevision(now);
      this.#begun.push(event);
    }
    if (!goesOn) this.#takeRevision(now);
    if (compactRevision > this.#history.newest) this.#lose(compactRevision);
    this.#fanOut.deliver();
  }

  /** Everything that happened in one revision. This store writes one key in each; who writes several is somebody else. */
  #takeRevision(now: number): void {
    const [event, ...more] = this.#begun;
    this.#begun = [];
    if (event === undefined || event.kv.modRevision <= this.#history.newest) return;
    const { modRevision } = event.kv;
    const isEntry = ({ kv }: WatchEvent): boolean => kv.key.startsWith(this.#etcdKey(''));
    if (more.length > 0 && [event, ...more].some(isEntry)) {
      this.#log.warn({ revision: String(modRevision) }, 'somebody else wrote several keys of etcd at once');
      this.#lose(modRevision);
      return;
    }
    const change = isEntry(event) ? this.#changeFrom(event) : undefined;
    if (change === 'incomplete') this.#lose(modRevision);
    else if (change === undefined) this.#history.advance(modRevision);
    else this.#history.append(change, now);
  }

  /** What happened up to a revision cannot be known any more. */
  #lose(revision: Revision): void {
    const { newest } = this.#history;
    this.#history.restart(revision);
    this.#fanOut.cutOff(new HistoryCompacted(newest, revision));
  }

  /** 'incomplete' if etcd no longer knew what was there before. What cannot be read is told to nobody. */
  #changeFrom({ type, kv, previous }: WatchEvent): Written | 'incomplete' {
    const before = previous && this.#toldEntry(previous);
    if (type === 'delete')
      return before === undefined
        ? 'incomplete'
        : { type, entry: atRevision(before, kv.modRevision), previous: before };
    if (before === undefined && kv.createRevision !== kv.modRevision) return 'incomplete';
    return { type, entry: this.#toldEntry(kv), previous: before };
  }

  #toldEntry(kv: KeyValue): Entry {
    return this.#anyEntry(kv, (error) =>
      this.#log.error({ err: error, key: kv.key }, 'a change in etcd that cannot be read is told to nobody'),
    );
  }

  #entry({ key: whole, modRevision, value }: KeyValue): Entry {
    const key = whole.slice(this.#etcdKey('').length);
    return this.#cache.entry(key, modRevision, () => decodeEntry({ key, modRevision, value }, this.#encryption));
  }

  #anyEntry(kv: KeyValue, onUnread?: (error: unknown) => void): Entry {
    try {
      return this.#entry(kv);
    } catch (error) {
      onUnread?.(error);
      const { key, modRevision: revision, value } = kv;
      const about = { key: key.slice(this.#etcdKey('').length), revision, revisionAt: -1, kept: unshared(value) };
      return new UnreadEntry(about, () => {
        throw error;
      });
    }
  }

  #etcdKey(key: string): string {
    return `${this.#space}/entries${key}`;
  }

  #metaKey(name: string): string {
    return `${this.#space}/meta/${name}`;
  }

  #checkOpen(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#stop.signal.aborted) throw new StoreClosed('the store is closed');
  }
}

/** etcd gives no reason when it has compacted what a watch would begin with. */
const whyCanceled = ({ compactRevision, cancelReason }: WatchResponse): string =>
  compactRevision > 0n ? `etcd has compacted what came before revision ${compactRevision}` : cancelReason;

/** What etcd gets of a document, if there is one. */
interface Kept {
  readonly nonce: Buffer;
  readonly keptAs: string;
  readonly value: Buffer;
}

/**
 * Opens the store in an etcd, with the recent past in memory.
 * @throws StoreUnavailable if no member answers, or there is no store that must exist
 */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<EtcdStore> {
  const connected = await openClient(options);
  const space = options.prefix ?? etcdDefaults.prefix;
  let client = options.wrapClient?.(connected) ?? connected;
  try {
    if (options.mustExist === true && !(await holdsEntries(client, space)))
      throw new StoreUnavailable(`there is no store in etcd under ${space}`);
    client = await withOffset(client, space, options.after ?? 0n);
    const { revision } = await client.range({ key: `${space}/meta/heartbeat` });
    const wanted = revision - BigInt(options.replay ?? defaultReplay);
    const oldest = await oldestKept(client, `${space}/meta/heartbeat`, wanted);
    const start = { after: wanted > oldest ? wanted : oldest, now: revision };
    const store = new EtcdStore(client, start, options);
    await store.begin(revision).catch((error: unknown) => store.close().then(() => Promise.reject(error)));
    return store;
  } catch (error) {
    client.close();
    throw error;
  }
}

async function holdsEntries(client: EtcdClient, space: string): Promise<boolean> {
  const key = `${space}/entries`;
  const { count } = await client.range({ key, rangeEnd: endOfRange(key), limit: 1 });
  return count > 0;
}

/** A client that uses what is in the files at the time. */
async function openClient({ secrets = {}, ...options }: EtcdStoreOptions): Promise<EtcdClient> {
  const { clock = systemClock, log = silentLogger } = options;
  const client = createEtcdClient(options);
  const closing = new AbortController();
  const close = (): void => {
    closing.abort();
    client.close();
  };
  try {
    await followSecrets(secrets, (found) => client.use(found), { clock, log, signal: closing.signal });
  } catch (error) {
    close();
    throw error;
  }
  return { ...client, close };
}
