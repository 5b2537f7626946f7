import { type Domains, defaultDomains, groupIn } from '../../src/api/domains.js';
import { quote } from '../../src/api/go-text.js';
import { CustomResourceDefinitions } from '../../src/api/kinds/custom-resource-definition.js';
import {
  type ApiObject,
  groupOf,
  groupResource,
  groupVersion,
  type ObjectKey,
  type OwnerReference,
} from '../../src/api/object.js';
import { exponentialBackoff } from '../../src/controller/backoff.js';
import type { ReconcileContext, ReconcileResult, Runnable } from '../../src/controller/controller.js';
import { deleteIfPresent } from '../../src/controller/delete-if-present.js';
import { type EventRecorder, eventRecorder } from '../../src/controller/events.js';
import { fieldManagers } from '../../src/controller/field-manager.js';
import { removeFinalizer } from '../../src/controller/finalizer.js';
import { defineKeyedController, type KeyedWork } from '../../src/controller/keyed-controller.js';
import { noLongerNeeded } from '../../src/runtime/abort.js';
import { AbsentOwners } from './absent-owners.js';
import { decide, type OwnerFinding, type OwnerState } from './decide.js';
import { type Listener, Monitors } from './monitors.js';
import { canBeOwnedBy, foregroundFinalizer, type Node, nodeOf, OwnerGraph, orphanFinalizer } from './owner-graph.js';

const name = 'garbage-collector';
const options = { fieldManager: fieldManagers.controllers };

/** After a definition changed, what is served is asked for every second for a while: it follows a little later. */
const settlingMs = 5_000;
const settlingLookMs = 1_000;

/** How soon to look again at an object whose owner is there and not in any watch: of a kind so new, or never watched. */
const unseenOwner = { requeueAfterMs: 10_000 };
/** How soon to look again at an owner whose orphans are not all known. */
const unlistedOrphans = { requeueAfterMs: 10_000 };

export interface GarbageCollectorOptions {
  /** How often to ask what is served, besides when a CustomResourceDefinition changes. Default 30 s. */
  readonly discoverEveryMs?: number;
  readonly domains?: Domains;
}

/**
 * Deletes objects whose owners are gone. Watches everything that can be owned and keeps who owns whom; before it deletes
 * it asks the server again about the object and each of its owners. Owners deleted in the foreground wait here for
 * their dependents, and orphans are let go of here.
 */
export const garbageCollector = (given: GarbageCollectorOptions = {}): Runnable =>
  defineKeyedController(name, (context) => workOf(given, context));

type Wake = (key: string, cause: string) => void;

function workOf(given: GarbageCollectorOptions, context: ReconcileContext): KeyedWork<string> {
  const { discoverEveryMs = 30_000, domains = defaultDomains } = given;
  const graph = new OwnerGraph();
  const absent = new AbsentOwners();
  const { clock, log, signal } = context;
  let wake: Wake = () => {};
  const recorder = eventRecorder(`${name}-controller`, context, options);
  let definitionsChangedAt = Number.NEGATIVE_INFINITY;
  let pause = new AbortController();
  const definitions = groupIn(domains, CustomResourceDefinitions.group);
  const listener: Listener = {
    changed(type, change) {
      if (type.plural === CustomResourceDefinitions.plural && type.group === definitions) {
        definitionsChangedAt = clock.now();
        pause.abort(noLongerNeeded);
      }
      if (change.type === 'deleted') forget(graph, absent, change.object.metadata.uid ?? '', wake);
      else learn(graph, nodeOf(type, change.object), wake, recorder);
    },
    replaced(id, found) {
      const isGone = ({ type, uid }: Node): boolean => groupResource(type) === id && !found.has(uid);
      for (const { uid } of graph.nodesOf(isGone)) forget(graph, absent, uid, wake);
    },
  };
  const monitors = new Monitors(context, listener, domains);
  const collector = new Collector(context, graph, absent, monitors, (key, cause) => wake(key, cause));

  /** Apart from the queue: objects that wait for a resource to be listed must not keep it from being found gone. */
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
        log[signal.aborted ? 'debug' : 'warn']({ err }, 'could not find out what is served');
      }
      const isSettling = clock.now() - definitionsChangedAt < settlingMs;
      const waitMs = failures > 0 ? backoff(failures) : isSettling ? settlingLookMs : discoverEveryMs;
      await clock.sleep(Math.min(discoverEveryMs, waitMs), pause.signal);
    }
  };

  let discovery: Promise<void> | undefined;
  return {
    identity: (key) => key,
    concurrency: 5,
    start(given) {
      wake = given;
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

function learn(graph: OwnerGraph, node: Node, wake: Wake, recorder: EventRecorder): void {
  if (node.uid === '') return;
  const previous = graph.put(node);
  if (previous === undefined)
    for (const dependent of graph.dependentsOf(node.uid)) tellForeignOwner(dependent, node, recorder);
  if (previous === undefined || !sameOwners(previous, node)) {
    for (const { uid } of node.owners) {
      const owner = previous?.owners.some((known) => known.uid === uid) ? undefined : graph.get(uid);
      if (owner !== undefined) tellForeignOwner(node, owner, recorder);
    }
    if (node.owners.length > 0) wake(node.uid, 'owners changed');
    for (const { uid } of previous?.owners ?? []) if (graph.get(uid)) wake(uid, 'dependent changed');
  }
  if (node.waitsForDependents && !previous?.waitsForDependents) {
    // Its dependents first: nothing tells them to go once the owner waits no longer, and others may hold it for long.
    for (const { uid } of graph.dependentsOf(node.uid)) wake(uid, 'owner is being deleted');
    wake(node.uid, 'waits for dependents');
  }
  if (node.orphansDependents && !previous?.orphansDependents) wake(node.uid, 'orphans dependents');
}

/** An object with an owner in another namespace goes as if it had none: its owner's name alone does not say why. */
function tellForeignOwner(dependent: Node, owner: Node, recorder: EventRecorder): void {
  const reference = dependent.owners.find(({ uid }) => uid === owner.uid);
  if (reference === undefined || canBeOwnedBy(dependent, owner)) return;
  const { type, key, uid } = dependent;
  const { namespace = '' } = key;
  const meant = `${reference.apiVersion}/${reference.kind}, namespace: ${namespace}, name: ${reference.name}`;
  const metadata = { name: key.name, uid, ...(namespace === '' ? {} : { namespace }) };
  recorder.record(
    { apiVersion: groupVersion(type), kind: type.kind, metadata },
    {
      type: 'Warning',
      reason: 'OwnerRefInvalidNamespace',
      message: `ownerRef [${meant}, uid: ${reference.uid}] does not exist in namespace ${quote(namespace)}`,
    },
  );
}

function forget(graph: OwnerGraph, absent: AbsentOwners, uid: string, wake: Wake): void {
  const node = graph.remove(uid);
  const dependents = graph.dependentsOf(uid);
  if (node !== undefined && dependents.length > 0) absent.addNode(node);
  for (const dependent of dependents) wake(dependent.uid, 'owner deleted');
  for (const owner of node?.owners ?? []) if (graph.get(owner.uid)) wake(owner.uid, 'dependent deleted');
}

const referenceText = ({ uid, blockOwnerDeletion, name: owner, kind, apiVersion }: OwnerReference): string =>
  JSON.stringify([uid, blockOwnerDeletion === true, owner, kind, apiVersion]);
const sameOwners = (a: Node, b: Node): boolean =>
  a.owners.length === b.owners.length &&
  a.owners.every((owner, at) => {
    const other = b.owners[at];
    return other !== undefined && referenceText(owner) === referenceText(other);
  });

class Collector {
  readonly #context: ReconcileContext;
  readonly #graph: OwnerGraph;
  readonly #absent: AbsentOwners;
  readonly #monitors: Monitors;
  readonly #wake: Wake;

  constructor(context: ReconcileContext, graph: OwnerGraph, absent: AbsentOwners, monitors: Monitors, wake: Wake) {
    this.#context = context;
    this.#graph = graph;
    this.#absent = absent;
    this.#monitors = monitors;
    this.#wake = wake;
  }

  async collect(uid: string): Promise<ReconcileResult> {
    const node = this.#graph.get(uid);
    if (node === undefined) return;
    if (node.orphansDependents) return this.#orphan(node);
    if (node.waitsForDependents) await this.#awaitDependents(node);
    if (node.owners.length === 0 || node.owners.every((owner) => this.#isKnownSolid(node, owner))) return;
    return this.#judge(node);
  }

  /** True without asking the server: the owner is known, is the one that is meant, and is not waiting to go. */
  #isKnownSolid(node: Node, { uid, name: owner, kind, apiVersion }: OwnerReference): boolean {
    const known = this.#graph.get(uid);
    return (
      known !== undefined &&
      !known.waitsForDependents &&
      known.key.name === owner &&
      known.type.kind === kind &&
      known.type.group === groupOf(apiVersion) &&
      canBeOwnedBy(node, known)
    );
  }

  async #judge(node: Node): Promise<ReconcileResult> {
    const resource = this.#context.client.resource<ApiObject>(node.type);
    const object = await resource.get(node.key);
    if (object === undefined || object.metadata.uid !== node.uid) {
      return forget(this.#graph, this.#absent, node.uid, this.#wake);
    }
    const current = nodeOf(node.type, object);
    if (current.deleting && !current.waitsForDependents) return;
    const findings: OwnerFinding[] = [];
    for (const reference of current.owners) {
      const state = await this.#stateOf(current, reference);
      if (state === 'nobody knows') return;
      findings.push({ reference, state });
    }
    const verdict = decide({
      findings,
      finalizers: object.metadata.finalizers ?? [],
      dependents: this.#graph.dependentsOf(node.uid),
    });
    if (verdict.do === 'nothing') {
      // Nobody will tell of the end of an owner that was not seen coming.
      return findings.every(({ reference }) => this.#graph.get(reference.uid)) ? undefined : unseenOwner;
    }
    if (verdict.do === 'disown') {
      const lost = new Set(verdict.owners.map(({ uid }) => uid));
      await this.#writeOwners(
        node,
        object,
        current.owners.filter(({ uid }) => !lost.has(uid)),
      );
      return;
    }
    const latest = verdict.unblock
      ? await this.#writeOwners(
          node,
          object,
          current.owners.map((owner) => ({ ...owner, blockOwnerDeletion: false })),
        )
      : object;
    if (current.deleting && verdict.policy === 'Foreground') return;
    await this.#delete(node, latest, verdict.policy);
  }

  async #stateOf(node: Node, reference: OwnerReference): Promise<OwnerState | 'nobody knows'> {
    // Before its type is looked for: that may be gone as well.
    if (this.#absent.has(reference, node)) return 'absent';
    const { apiVersion, kind, name: owner, uid } = reference;
    const type = this.#monitors.typeOf(apiVersion, kind);
    if (type === undefined) throw new Error(`no resource is served for the owner kind ${kind} of ${apiVersion}`);
    // A cluster-scoped object cannot be owned by a namespaced one: which of them is meant does not say.
    if (type.namespaced && !node.type.namespaced) return 'nobody knows';
    const key: ObjectKey = type.namespaced ? { namespace: node.key.namespace, name: owner } : { name: owner };
    const found = await this.#context.client.resource<ApiObject>(type).get(key);
    if (found === undefined || found.metadata.uid !== uid) {
      this.#absent.add(reference, key.namespace);
      return 'absent';
    }
    return nodeOf(type, found).waitsForDependents ? 'waiting' : 'solid';
  }

  async #delete(
    node: Node,
    object: ApiObject,
    propagationPolicy: 'Background' | 'Foreground' | 'Orphan',
  ): Promise<void> {
    const { client, log } = this.#context;
    if (await deleteIfPresent(client, node.type, object, { propagationPolicy, unchanged: true }))
      log.info({ object: node.key, kind: node.type.kind, propagationPolicy }, 'deleted a dependent');
  }

  /**
   * Lets an owner go once nobody blocks it; until then sees to it that its dependents are dealt with. A resource that
   * cannot be listed holds no owner, as in Kubernetes: what is found later goes later.
   */
  async #awaitDependents(node: Node): Promise<void> {
    const blockers = this.#graph.blockersOf(node.uid);
    if (blockers.length === 0) return this.#release(node, foregroundFinalizer);
    for (const { uid, deleting } of blockers) if (!deleting) this.#wake(uid, 'owner is being deleted');
  }

  /**
   * One dependent that cannot be let go of holds the owner, and none of the others. So does a resource that could not be
   * listed yet: its objects would be found later and, their owner gone, be deleted instead of kept.
   */
  async #orphan(node: Node): Promise<ReconcileResult> {
    const failures: unknown[] = [];
    for (const dependent of this.#graph.dependentsOf(node.uid)) {
      await this.#letGo(node, dependent).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
    const unlisted = this.#monitors.unlisted().filter(({ namespaced }) => namespaced || !node.type.namespaced);
    if (unlisted.length > 0) {
      const fields = { object: node.key, kind: node.type.kind, resources: unlisted.map(groupResource) };
      this.#context.log.warn(fields, 'an owner waits for orphans that cannot be listed');
      return unlistedOrphans;
    }
    await this.#release(node, orphanFinalizer);
  }

  async #letGo(node: Node, dependent: Node): Promise<void> {
    const object = await this.#context.client.resource<ApiObject>(dependent.type).get(dependent.key);
    if (object === undefined || object.metadata.uid !== dependent.uid) return;
    const owners = object.metadata.ownerReferences ?? [];
    const others = owners.filter(({ uid }) => uid !== node.uid);
    if (others.length < owners.length) await this.#writeOwners(dependent, object, others);
  }

  async #release(node: Node, finalizer: string): Promise<void> {
    const { client } = this.#context;
    const object = await client.resource<ApiObject>(node.type).get(node.key);
    if (object === undefined || object.metadata.uid !== node.uid) return;
    await removeFinalizer(client, node.type, object, finalizer, options);
  }

  /** Replaces the owner references of an object as it was read. */
  #writeOwners(node: Node, { metadata }: ApiObject, owners: readonly OwnerReference[]): Promise<ApiObject> {
    const ownerReferences = owners.length > 0 ? owners : null;
    const { resourceVersion = '' } = metadata;
    const body = { metadata: { uid: node.uid, resourceVersion, ownerReferences } };
    return this.#context.client.resource<ApiObject>(node.type).patch(node.key, { type: 'merge', body }, options);
  }
}
