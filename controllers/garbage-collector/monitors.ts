import { type Domains, groupIn } from '../../src/api/domains.js';
import {
  type ApiObject,
  groupResource,
  groupVersion,
  type ObjectMeta,
  type ResourceType,
} from '../../src/api/object.js';
import type { CacheChange } from '../../src/client/cache-change.js';
import type { DiscoveredResource } from '../../src/client/client.js';
import { type ObjectCache, openObjectCache } from '../../src/client/object-cache.js';
import { preferredResources } from '../../src/client/preferred-resources.js';
import type { ReconcileContext } from '../../src/controller/controller.js';
import { withTimeout } from '../../src/runtime/abort.js';
import { TurnTaking } from '../../src/runtime/turn-taking.js';

export interface Listener {
  changed(type: ResourceType, change: CacheChange<ApiObject>): void;
  /** Called with the first list of a watch that replaced another: all other known objects of the resource are gone. */
  replaced(groupResource: string, uids: ReadonlySet<string>): void;
}

interface Monitor {
  readonly type: ResourceType;
  readonly cache: ObjectCache<ApiObject>;
  readonly stop: AbortController;
  /** Resolves when everything was listed once, the watch was stopped, or the first list took too long. */
  readonly ready: Promise<void>;
  isListed(): boolean;
}

/** The time that kube-controller-manager waits for first lists before it continues without those that fail. */
const initialSyncMs = 30_000;

/** The watches of all resources whose objects can own and be owned, which follow discovery. */
export class Monitors {
  readonly #context: ReconcileContext;
  readonly #listener: Listener;
  /** Events are ignored: they neither own nor are owned, and there are many. */
  readonly #ignored: ReadonlySet<string>;
  readonly #running = new Map<string, Monitor>();
  /** Settles when all watches of the first refresh are ready. */
  #first: Promise<unknown> | undefined;
  #served: readonly DiscoveredResource[] = [];
  /** The resources to be watched, by group and resource. */
  #desired: ReadonlyMap<string, DiscoveredResource> = new Map();
  #kinds: ReadonlyMap<string, ResourceType> = new Map();

  constructor(context: ReconcileContext, listener: Listener, domains: Domains) {
    this.#context = context;
    this.#listener = listener;
    this.#ignored = new Set(['events', `events.${groupIn(domains, 'events.k8s.io')}`]);
    context.signal.addEventListener('abort', () => this.#stopAll(), { once: true });
  }

  /**
   * Starts watches for new resources and those whose version, kind or scope changed, and ends those of resources no
   * longer served; returns the latter. Groups whose discovery fails are assumed to be served as before.
   */
  async refresh(): Promise<readonly string[]> {
    const failed = new Set<string>();
    const found = await this.#context.client.discover({ onFailure: (failure) => failed.add(groupVersion(failure)) });
    // A watch started after the abort would never be stopped.
    if (this.#context.signal.aborted) return [];
    this.#served = [...found, ...this.#served.filter((type) => failed.has(groupVersion(type)))];
    this.#kinds = new Map(this.#served.map((type) => [`${groupVersion(type)} ${type.kind}`, type]));
    this.#desired = watchable(this.#served, this.#ignored);
    const ended = [...this.#running.keys()].filter((id) => !this.#desired.has(id));
    for (const id of ended) {
      this.#running.get(id)?.stop.abort();
      this.#running.delete(id);
    }
    const opening = this.#openWanted();
    this.#first ??= opening.then(() => Promise.all([...this.#running.values()].map(({ ready }) => ready)));
    await opening;
    return ended;
  }

  /** Opens the missing watches, yielding to other work, because there may be hundreds. */
  async #openWanted(): Promise<void> {
    const turns = new TurnTaking();
    for (const [id, type] of this.#desired) {
      const running = this.#running.get(id);
      if (running !== undefined && isSame(running.type, type)) continue;
      if (turns.isDue) await turns.next();
      // A watch started after the abort would never be stopped.
      if (this.#context.signal.aborted) return;
      const opened = this.#open(type);
      this.#running.set(id, opened);
      if (running !== undefined) void this.#replace(running, opened);
    }
  }

  /**
   * Resolves when every watch of the first refresh has completed its list or had its time for it; immediately before
   * the first refresh. As in Kubernetes, later watches are not waited for: one that cannot be listed would hold up
   * everything else.
   */
  async ready(): Promise<void> {
    await this.#first;
  }

  /**
   * Returns the resources that have not been listed yet, so that their objects are unknown. Resources of groups whose
   * discovery has never succeeded are not included: most of these have nothing that can be owned.
   */
  unlisted(): readonly ResourceType[] {
    const isListed = (id: string, type: ResourceType): boolean => {
      const running = this.#running.get(id);
      return running !== undefined && isSame(running.type, type) && running.isListed();
    };
    return [...this.#desired].filter(([id, type]) => !isListed(id, type)).map(([, type]) => type);
  }

  /** Returns the resource of an owner reference; undefined if it is not served. */
  typeOf(apiVersion: string, kind: string): ResourceType | undefined {
    return this.#kinds.get(`${apiVersion} ${kind}`);
  }

  #open({ verbs: _, preferred: __, ...type }: DiscoveredResource): Monitor {
    const { client, clock, log } = this.#context;
    const stop = new AbortController();
    const cache = openObjectCache(client, type, {
      clock,
      log,
      signal: stop.signal,
      metadataOnly: true,
      transform: bare,
    });
    cache.changes.subscribe((change) => this.#listener.changed(type, change));
    let isListed = false;
    const listed = cache.synced.then(() => {
      isListed = true;
    });
    const limits = { clock, milliseconds: initialSyncMs, signals: [stop.signal] };
    const ready = withTimeout(limits, () => listed).catch(() => {
      if (!stop.signal.aborted)
        log.warn({ resource: groupResource(type) }, 'continuing without a resource that cannot be listed');
    });
    return { type, cache, stop, ready, isListed: () => isListed };
  }

  /**
   * Reports the first list of a new watch: other known objects of the resource were deleted between the old watch and
   * this one.
   */
  async #replace(old: Monitor, { type, cache, stop }: Monitor): Promise<void> {
    old.stop.abort();
    await cache.synced;
    if (stop.signal.aborted) return;
    this.#listener.replaced(groupResource(type), new Set(cache.list().map(({ metadata }) => metadata.uid ?? '')));
  }

  #stopAll(): void {
    for (const { stop } of this.#running.values()) stop.abort();
    this.#running.clear();
  }
}

/** Whether a resource is served as before. Its definition may have changed the preferred version, kind or scope. */
const isSame = (a: ResourceType, b: ResourceType): boolean =>
  a.version === b.version && a.kind === b.kind && a.namespaced === b.namespaced;

const looksAt = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'ownerReferences',
  'deletionTimestamp',
  'finalizers',
] as const;

/** Reduces an object to what the garbage collector needs, because it holds every object in memory. */
function bare({ apiVersion, kind, metadata }: ApiObject): ApiObject {
  const members: Record<string, unknown> = {};
  for (const member of looksAt) if (metadata[member] !== undefined) members[member] = metadata[member];
  return { apiVersion, kind, metadata: members as ObjectMeta };
}

/** Returns the resources that can be watched and deleted, by group and resource. */
const watchable = (
  discovered: readonly DiscoveredResource[],
  ignored: ReadonlySet<string>,
): ReadonlyMap<string, DiscoveredResource> =>
  new Map(
    preferredResources(discovered, ['list', 'watch', 'delete'])
      .map((type) => [groupResource(type), type] as const)
      .filter(([id]) => !ignored.has(id)),
  );
