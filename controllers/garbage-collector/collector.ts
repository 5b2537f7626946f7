import { type ApiObject, groupOf, groupResource, type ObjectKey, type OwnerReference } from '../../src/api/object.js';
import type { ReconcileContext, ReconcileResult } from '../../src/controller/controller.js';
import { deleteIfPresent } from '../../src/controller/delete-if-present.js';
import { fieldManagers } from '../../src/controller/field-manager.js';
import { removeFinalizer } from '../../src/controller/finalizer.js';
import { decide, type OwnerFinding, type OwnerState } from './decide.js';
import type { Monitors } from './monitors.js';
import { canBeOwnedBy, foregroundFinalizer, type Node, nodeOf, orphanFinalizer } from './owner-graph.js';
import type { Ownership } from './ownership.js';

const options = { fieldManager: fieldManagers.controllers };

/**
 * The delay before checking again an object whose owner exists but is in no watch: its kind is new, or never watched.
 */
const unseenOwner = { requeueAfterMs: 10_000 };
/** The delay before checking again an owner whose dependents are not all known. */
const unlistedOrphans = { requeueAfterMs: 10_000 };

/** Decides about one object at a time, and carries out the decision. */
export class Collector {
  readonly #context: ReconcileContext;
  readonly #ownership: Ownership;
  readonly #monitors: Monitors;

  constructor(context: ReconcileContext, ownership: Ownership, monitors: Monitors) {
    this.#context = context;
    this.#ownership = ownership;
    this.#monitors = monitors;
  }

  async collect(uid: string): Promise<ReconcileResult> {
    const node = this.#ownership.graph.get(uid);
    if (node === undefined) return;
    if (node.orphansDependents) return this.#orphan(node);
    if (node.waitsForDependents) await this.#awaitDependents(node);
    if (node.owners.length === 0 || node.owners.every((owner) => this.#isKnownSolid(node, owner))) return;
    return this.#judge(node);
  }

  /**
   * Whether it is known without a request that the owner exists, is the referenced one, and is not waiting for its
   * dependents.
   */
  #isKnownSolid(node: Node, { uid, name: owner, kind, apiVersion }: OwnerReference): boolean {
    const known = this.#ownership.graph.get(uid);
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
      return this.#ownership.forget(node.uid);
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
      dependents: this.#ownership.graph.dependentsOf(node.uid),
    });
    if (verdict.do === 'nothing') {
      // If no watch has reported an owner, none will report its deletion.
      return findings.every(({ reference }) => this.#ownership.graph.get(reference.uid)) ? undefined : unseenOwner;
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
    // This is checked before the type is looked up, because the type may be gone as well.
    if (this.#ownership.isAbsent(node, reference)) return 'absent';
    const { apiVersion, kind, name: owner, uid } = reference;
    const type = this.#monitors.typeOf(apiVersion, kind);
    if (type === undefined) throw new Error(`no resource is served for the owner kind ${kind} of ${apiVersion}`);
    // A cluster-scoped object cannot be owned by a namespaced one, and the reference does not contain a namespace.
    if (type.namespaced && !node.type.namespaced) return 'nobody knows';
    const key: ObjectKey = type.namespaced ? { namespace: node.key.namespace, name: owner } : { name: owner };
    const found = await this.#context.client.resource<ApiObject>(type).get(key);
    if (found === undefined || found.metadata.uid !== uid) {
      this.#ownership.absent.add(reference, key.namespace);
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
   * Removes the foreground finalizer of an owner once no dependent blocks it; until then, wakes its dependents. As in
   * Kubernetes, a resource that cannot be listed does not hold up owners: its objects are deleted when they are found.
   */
  async #awaitDependents(node: Node): Promise<void> {
    const blockers = this.#ownership.graph.blockersOf(node.uid);
    if (blockers.length === 0) return this.#release(node, foregroundFinalizer);
    for (const { uid, deleting } of blockers) if (!deleting) this.#ownership.wake(uid, 'owner is being deleted');
  }

  /**
   * Removes an owner from its dependents, then the orphan finalizer from the owner. A dependent that cannot be updated
   * holds up the owner, but no other dependent. So does a resource that has not been listed yet: its objects would be
   * found after their owner was deleted, and be deleted instead of kept.
   */
  async #orphan(node: Node): Promise<ReconcileResult> {
    const failures: unknown[] = [];
    for (const dependent of this.#ownership.graph.dependentsOf(node.uid)) {
      await this.#letGo(node, dependent).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
    const unlisted = this.#monitors.unlisted().filter(({ namespaced }) => namespaced || !node.type.namespaced);
    if (unlisted.length > 0) {
      const fields = { object: node.key, kind: node.type.kind, resources: unlisted.map(groupResource) };
      this.#context.log.warn(fields, 'an owner cannot be deleted: its dependents cannot be listed');
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

  /** Replaces the owner references of an object in the state that was read. */
  #writeOwners(node: Node, { metadata }: ApiObject, owners: readonly OwnerReference[]): Promise<ApiObject> {
    const ownerReferences = owners.length > 0 ? owners : null;
    const { resourceVersion = '' } = metadata;
    const body = { metadata: { uid: node.uid, resourceVersion, ownerReferences } };
    return this.#context.client.resource<ApiObject>(node.type).patch(node.key, { type: 'merge', body }, options);
  }
}
