import { type Domains, defaultDomains, groupIn } from '../../src/api/domains.js';
import { CustomResourceDefinitions } from '../../src/api/kinds/custom-resource-definition.js';
import { groupResource } from '../../src/api/object.js';
import { exponentialBackoff } from '../../src/controller/backoff.js';
import type { ReconcileContext, ReconcileResult, Runnable } from '../../src/controller/controller.js';
import { eventRecorder } from '../../src/controller/events.js';
import { fieldManagers } from '../../src/controller/field-manager.js';
import { defineKeyedController, type KeyedWork } from '../../src/controller/keyed-controller.js';
import { noLongerNeeded } from '../../src/runtime/abort.js';
import { Collector } from './collector.js';
import { type Listener, Monitors } from './monitors.js';
import { type Node, nodeOf } from './owner-graph.js';
import { Ownership, type Wake } from './ownership.js';

const name = 'garbage-collector';

/** For this time after a definition changed, discovery is read every second, because it follows a little later. */
const settlingMs = 5_000;
const settlingLookMs = 1_000;

/** Options of the garbage collector's discovery. */
export interface GarbageCollectorOptions {
  /** The interval of discovery, besides changes of CustomResourceDefinitions. Default 30 s. */
  readonly discoverEveryMs?: number;
  readonly domains?: Domains;
}

/**
 * Deletes objects whose owners are gone. Watches everything that can be owned and maintains a graph of owners; before
 * it deletes an object, it reads the object and each of its owners from the server. Also completes foreground
 * deletions, whose owners wait for their dependents, and orphaning ones.
 */
export const garbageCollector = (options: GarbageCollectorOptions = {}): Runnable =>
  defineKeyedController(name, (context) => workOf(options, context));

function workOf(options: GarbageCollectorOptions, context: ReconcileContext): KeyedWork<string> {
  const { discoverEveryMs = 30_000, domains = defaultDomains } = options;
  const { clock, log, signal } = context;
  let wake: Wake = () => {};
  const recorder = eventRecorder(`${name}-controller`, context, { fieldManager: fieldManagers.controllers });
  const ownership = new Ownership((uid, cause) => wake(uid, cause), recorder);
  const { graph } = ownership;
  let definitionsChangedAt = Number.NEGATIVE_INFINITY;
  let pause = new AbortController();
  const definitions = groupIn(domains, CustomResourceDefinitions.group);
  const listener: Listener = {
    changed(type, change) {
      if (type.plural === CustomResourceDefinitions.plural && type.group === definitions) {
        definitionsChangedAt = clock.monotonic();
        pause.abort(noLongerNeeded);
      }
      if (change.type === 'deleted') ownership.forget(change.object.metadata.uid ?? '');
      else ownership.learn(nodeOf(type, change.object));
    },
    replaced(id, found) {
      const isGone = ({ type, uid }: Node): boolean => groupResource(type) === id && !found.has(uid);
      for (const { uid } of graph.nodesOf(isGone)) ownership.forget(uid);
    },
  };
  const monitors = new Monitors(context, listener, domains);
  const collector = new Collector(context, ownership, monitors);

  /**
   * Runs outside of the queue: objects that wait for a resource to be listed must not prevent its removal from being
   * found.
   */
  const followDiscovery = async (): Promise<void> => {
    const backoff = exponentialBackoff({ baseMs: settlingLookMs, capMs: discoverEveryMs });
    signal.addEventListener('abort', () => pause.abort(noLongerNeeded), { once: true });
    let failures = 0;
    while (!signal.aborted) {
      pause = new AbortController();
      try {
        const ended = new Set(await monitors.refresh());
        for (const { uid } of graph.nodesOf(({ type }) => ended.has(groupResource(type)))) graph.remove(uid);
        failures = 0;
      } catch (err) {
        failures++;
        log[signal.aborted ? 'debug' : 'warn']({ err }, 'discovery failed');
      }
      const isSettling = clock.monotonic() - definitionsChangedAt < settlingMs;
      const waitMs = failures > 0 ? backoff(failures) : isSettling ? settlingLookMs : discoverEveryMs;
      await clock.sleep(Math.min(discoverEveryMs, waitMs), pause.signal);
    }
  };

  let discovery: Promise<void> | undefined;
  return {
    identity: (key) => key,
    concurrency: 5,
    start(wakeKey) {
      wake = wakeKey;
      discovery = followDiscovery();
    },
    async reconcile(key): Promise<ReconcileResult> {
      await monitors.ready();
      return collector.collect(key);
    },
    async stopped() {
      await discovery;
      await recorder.flush();
    },
  };
}
