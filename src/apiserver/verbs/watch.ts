import { expired } from '../../api/errors.js';
import { checkListParameters, type ListParameters } from '../../api/options.js';
import { storagePrefix } from '../../registry/keys.js';
import { noLongerNeeded, onAbort } from '../../runtime/abort.js';
import { Observable, type Subscriber, type Subscription } from '../../runtime/observable.js';
import { TurnTaking } from '../../runtime/turn-taking.js';
import { atRevision } from '../../store/document.js';
import {
  type Change,
  type Entry,
  HistoryCompacted,
  type Revision,
  StoreClosed,
  SubscriberTooSlow,
} from '../../store/store.js';
import { StoreUnavailable } from '../../store/store-unavailable.js';
import { Backpressure } from '../backpressure.js';
import { prepareEntries } from '../entry-codec.js';
import type { Parts } from '../parts.js';
import type { WatchItem, WatchResult } from '../request.js';
import { readResourceVersion, waitForRevision } from '../revisions.js';
import { isSelected, readForSelection } from '../selected.js';
import { readSelection, type Selection } from '../selection.js';
import { convertedForList, type ListTarget } from './list.js';

/**
 * A watch turns the changes of the store into the events that one caller asked for: first the present state if
 * requested, then every change after it, each once and in order. An object that enters the selection is ADDED, one that
 * leaves it DELETED. The watch ends cleanly when the caller is gone, the time is up, the store is closed, or the
 * resource is no longer served as it was.
 *
 * A slow reader makes the watch pause: nothing is queued for it, because the history of the store is its queue.
 */

const bookmarkMs = 60_000;
/** The time before the end at which a last bookmark is sent, in milliseconds. */
const farewellMs = 2_000;
const shortestMs = 1_800_000;
/**
 * The minimum time that a watch still lasts after a change of the served form, in milliseconds, as in kube-apiserver.
 */
const leaveAfterMs = 1_000;

export function watchObjects(parts: Parts, target: ListTarget, parameters: ListParameters): WatchResult {
  checkListParameters(parameters);
  const selection = readSelection(target.definition, parameters, target.shard, target.name);
  const version =
    parameters.resourceVersion === '' ? undefined : readResourceVersion(parameters.resourceVersion, 'watch');
  const fromState = version === undefined || version === 0n;
  const plan: WatchPlan = {
    initial: parameters.sendInitialEvents ?? fromState,
    // Absent: as recent as the request. 0: any state. N: not older than N.
    notBefore: version ?? 0n,
    after: fromState ? undefined : version,
    bookmarks: parameters.allowWatchBookmarks,
    // Only the query parameter `watch` enables the mark, not a watch path.
    endMark: parameters.allowWatchBookmarks && parameters.watch && (parameters.sendInitialEvents ?? fromState),
    lifetimeMs: parameters.timeoutSeconds ? parameters.timeoutSeconds * 1_000 : shortestMs * (1 + Math.random()),
  };
  const backpressure = new Backpressure();
  return {
    type: 'watch',
    definition: target.definition,
    backpressure,
    events: new Observable((subscriber) =>
      new Watch(parts, { target, selection, plan, backpressure }, subscriber).start(),
    ),
  };
}

/** Throws if an object cannot be converted, so that the watch is refused before it begins. */
export async function checkConvertible({ store }: Parts, target: ListTarget): Promise<void> {
  const { entries } = await store.scan(storagePrefix(target.definition, target.namespace));
  await convertedForList(target, entries);
}

interface WatchPlan {
  readonly initial: boolean;
  readonly notBefore: Revision;
  /** The revision after which changes are sent; undefined for changes from now on. */
  readonly after: Revision | undefined;
  readonly bookmarks: boolean;
  readonly endMark: boolean;
  readonly lifetimeMs: number;
}

/** The collection to watch, and how. */
interface WatchedCollection {
  readonly target: ListTarget;
  readonly selection: Selection;
  readonly plan: WatchPlan;
  readonly backpressure: Backpressure;
}

const laterOf = (a: Revision, b: Revision): Revision => (a > b ? a : b);

class Watch {
  readonly #parts: Parts;
  readonly #target: ListTarget;
  readonly #selection: Selection;
  readonly #plan: WatchPlan;
  readonly #backpressure: Backpressure;
  readonly #out: Subscriber<WatchItem>;
  readonly #ended = new AbortController();
  readonly #startedAt: number;
  #changes: Subscription | undefined;
  /** Whether the watch pauses until the reader accepts more. */
  #resting = false;
  /** Whether the watch waits for its end and sends no more events. */
  #leaving = false;
  /**
   * Whether the watch has ever paused. It then resumes from its own position, not from one that the caller requested.
   */
  #rested = false;
  #last: { readonly previous: Entry; readonly shown: Entry } | undefined;
  /** The revision up to which everything has been sent. */
  #seen: Revision = 0n;
  /** Whether the initial state has been sent, if it was requested. */
  #isFollowing = false;
  /** The revision of the store when the watch began, or a later one; bookmarks are only sent for later revisions. */
  #began: Revision = 0n;

  constructor(parts: Parts, { target, selection, plan, backpressure }: WatchedCollection, out: Subscriber<WatchItem>) {
    this.#parts = parts;
    this.#target = target;
    this.#selection = selection;
    this.#plan = plan;
    this.#backpressure = backpressure;
    this.#out = out;
    this.#startedAt = parts.clock.monotonic();
  }

  /** Starts the watch. Returns a function that stops it. */
  start(): () => void {
    this.#run().catch((error: unknown) => this.#fail(error));
    return () => this.#stop();
  }

  async #run(): Promise<void> {
    const { store, clock } = this.#parts;
    const { signal } = this.#target;
    const stopListening = onAbort(signal, () => this.#end());
    onAbort(this.#ended.signal, stopListening);
    if (signal.aborted) return this.#end();
    const { initial, bookmarks } = this.#plan;
    let after = this.#plan.after;
    if (initial && this.#plan.notBefore > 0n) await waitForRevision(store, this.#plan.notBefore, { clock, signal });
    void this.#keepTime();
    if (initial) after = await this.#sendState();
    const oldest = this.#oldest();
    if (after !== undefined && after < oldest) throw new HistoryCompacted(after, oldest);
    const present = after === undefined || (bookmarks && !initial) ? await this.#present(after) : after;
    after ??= present;
    this.#seen = after;
    this.#began = laterOf(after, present);
    if (this.#out.closed) return;
    this.#follow();
    if (this.#out.closed) return this.#stop();
    this.#isFollowing = true;
    this.#endWhenServedOtherwise();
  }

  /**
   * Returns the oldest revision that the watch may resume from. A caller that has seen objects in an earlier form must
   * list again.
   */
  #oldest(): Revision {
    const first = this.#parts.firstRevision();
    const { since = first } = this.#target.definition;
    return laterOf(since, first);
  }

  /** Returns the revision of the store. While that cannot be reached a watch can still resume, from the history. */
  async #present(after: Revision | undefined): Promise<Revision> {
    try {
      return await this.#parts.store.revision();
    } catch (error) {
      if (after === undefined || !(error instanceof StoreUnavailable)) throw error;
      return after;
    }
  }

  async #sendState(): Promise<Revision> {
    const { definition, namespace } = this.#target;
    const { entries, revision } = await this.#parts.store.scan(storagePrefix(definition, namespace));
    await convertedForList(this.#target, entries);
    const turns = new TurnTaking();
    for (const entry of entries) {
      if (turns.isDue) await turns.next();
      if (this.#out.closed) return revision;
      const reading = readForSelection(this.#selection, definition, [entry]);
      if (reading !== undefined) await reading;
      if (!this.#selects(entry)) continue;
      const conversion = prepareEntries(definition, [entry]);
      if (conversion !== undefined) await conversion;
      if (this.#out.closed) return revision;
      this.#out.next({ type: 'ADDED', entry, initial: true });
      const wait = this.#backpressure.wait();
      if (wait !== undefined) await wait;
    }
    if (this.#plan.endMark) this.#bookmark(revision, true);
    return revision;
  }

  /** Subscribes to the changes after the last one sent. */
  #follow(): void {
    const { definition, namespace } = this.#target;
    const changes = this.#parts.store.changes(storagePrefix(definition, namespace), this.#seen).subscribe({
      next: (change) => this.#onChange(change),
      error: (error: unknown) => this.#fail(error),
      complete: () => this.#end(),
    });
    // The subscription may have called back already.
    if (this.#resting || this.#out.closed) changes.unsubscribe();
    else this.#changes = changes;
  }

  #restUntil(ready: Promise<void>): void {
    this.#resting = true;
    this.#rested = true;
    this.#changes?.unsubscribe();
    this.#changes = undefined;
    ready.then(
      () => {
        this.#resting = false;
        if (!this.#ended.signal.aborted && !this.#out.closed && !this.#leaving) this.#follow();
      },
      (error: unknown) => this.#fail(error),
    );
  }

  #selects(entry: Entry): boolean {
    return isSelected(this.#selection, this.#target.definition, entry);
  }

  #onChange(change: Change): void {
    // This change will be delivered again later.
    if (this.#resting) return;
    try {
      const reading = this.#read(change);
      if (reading !== undefined) {
        // No later change may overtake this one.
        this.#restUntil(
          reading.then(() => {
            // In the meantime the caller may have gone, or the served form changed.
            if (this.#out.closed || this.#leaving) return undefined;
            this.#tell(change);
            return this.#backpressure.wait();
          }),
        );
        return;
      }
      this.#tell(change);
    } catch (error) {
      // An entry that cannot be read must end this watch, and nothing else.
      this.#fail(error);
      return;
    }
    const wait = this.#backpressure.wait();
    if (wait !== undefined) this.#restUntil(wait);
  }

  /**
   * Reads what is needed to send the event, if a webhook converts the objects or they are large; returns undefined if
   * nothing needs to be read.
   */
  #read(change: Change): Promise<unknown> | undefined {
    if (change.type === 'progress') return undefined;
    const { definition } = this.#target;
    const { entry, previous } = change;
    const { codec } = definition;
    if (codec === undefined)
      return readForSelection(this.#selection, definition, change.type === 'put' ? [entry, previous] : [previous]);
    const isForeign = codec.remote !== undefined;
    const compared = isForeign || !this.#selection.everything ? previous : undefined;
    const last = isForeign && change.type === 'put' ? previous && this.#lastOf(previous, entry.revision) : undefined;
    return prepareEntries(
      definition,
      [entry, compared, last].filter((one) => one !== undefined),
    );
  }

  /**
   * Returns the entry that shows an object which has left the selection. Repeated calls for the same change return the
   * same entry.
   */
  #lastOf(previous: Entry, revision: Revision): Entry {
    if (this.#last?.previous !== previous) this.#last = { previous, shown: atRevision(previous, revision) };
    return this.#last.shown;
  }

  #tell(change: Change): void {
    if (change.type === 'progress') {
      if (change.revision > this.#seen) this.#seen = change.revision;
      return;
    }
    const { entry, previous } = change;
    this.#seen = entry.revision;
    if (change.type === 'delete') {
      if (this.#selects(change.previous)) this.#out.next({ type: 'DELETED', entry });
      return;
    }
    const now = this.#selects(entry);
    const before = previous !== undefined && this.#selects(previous);
    if (now) this.#out.next({ type: before ? 'MODIFIED' : 'ADDED', entry });
    else if (before && previous !== undefined)
      this.#out.next({ type: 'DELETED', entry: this.#lastOf(previous, entry.revision) });
  }

  #bookmark(revision: Revision, initialEventsEnd: boolean): void {
    this.#out.next({ type: 'BOOKMARK', resourceVersion: String(revision), initialEventsEnd });
  }

  async #keepTime(): Promise<void> {
    const { clock } = this.#parts;
    const { signal } = this.#ended;
    const end = clock.monotonic() + this.#plan.lifetimeMs;
    // System timers can fire slightly early; the last bookmark must not be sent twice.
    let isSilent = !this.#plan.bookmarks;
    while (!signal.aborted) {
      const leftMs = end - clock.monotonic();
      if (leftMs <= 0) return this.#end();
      const toFarewell = leftMs - farewellMs;
      isSilent ||= toFarewell <= 0;
      await clock.sleep(Math.ceil(isSilent ? leftMs : Math.min(bookmarkMs, toFarewell)), signal);
      if (isSilent || clock.monotonic() >= end) continue;
      isSilent = toFarewell <= bookmarkMs;
      if (this.#isFollowing && this.#seen > this.#began) this.#bookmark(this.#seen, false);
    }
  }

  #endWhenServedOtherwise(): void {
    const { definition } = this.#target;
    if (definition.origin === 'built-in') return;
    const { catalogue } = this.#parts;
    const endIfChanged = (): void => {
      const now = catalogue.current().find(definition.group, definition.version, definition.plural);
      if (now === undefined) this.#end();
      else if (now.since !== definition.since && !this.#leaving) void this.#leave();
    };
    const stop = catalogue.onChange(definition, endIfChanged);
    onAbort(this.#ended.signal, stop);
    // The resource may have been removed while the initial state was sent.
    endIfChanged();
  }

  /**
   * Ends a watch whose objects are no longer served in the same form. A young watch ends with a delay: otherwise,
   * several changes of a definition in a row would make every client list again each time.
   */
  async #leave(): Promise<void> {
    this.#leaving = true;
    this.#changes?.unsubscribe();
    this.#changes = undefined;
    const { clock } = this.#parts;
    const leftMs = this.#startedAt + leaveAfterMs - clock.monotonic();
    if (leftMs > 0) await clock.sleep(leftMs, this.#ended.signal);
    this.#end();
  }

  #fail(error: unknown): void {
    const overtaken = error instanceof HistoryCompacted && this.#rested;
    if (overtaken || error instanceof StoreClosed || error instanceof SubscriberTooSlow) {
      this.#end();
      return;
    }
    const reported =
      error instanceof HistoryCompacted
        ? expired(`too old resource version: ${this.#plan.after ?? this.#seen} (${error.oldest})`)
        : error;
    if (reported === error) this.#parts.log.warn({ err: error }, 'watch failed');
    this.#out.next({ type: 'ERROR', error: reported });
    this.#end();
  }

  #end(): void {
    this.#out.complete();
    this.#stop();
  }

  #stop(): void {
    this.#changes?.unsubscribe();
    this.#ended.abort(noLongerNeeded);
  }
}
