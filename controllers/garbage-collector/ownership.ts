import { quote } from '../../src/api/go-text.js';
import { groupOf, groupVersion, type OwnerReference } from '../../src/api/object.js';
import type { EventRecorder } from '../../src/controller/events.js';
import { AbsentOwners } from './absent-owners.js';
import { canBeOwnedBy, type Node, OwnerGraph } from './owner-graph.js';

export type Wake = (uid: string, cause: string) => void;

/** Keeps the owner graph up to date with watches, and queues the objects that a change concerns. */
export class Ownership {
  readonly graph = new OwnerGraph();
  readonly absent = new AbsentOwners();
  readonly wake: Wake;
  readonly #recorder: EventRecorder;

  constructor(wake: Wake, recorder: EventRecorder) {
    this.wake = wake;
    this.#recorder = recorder;
  }

  /** Whether the owner in an object's reference is known to be gone. */
  isAbsent(dependent: Node, reference: OwnerReference): boolean {
    const owner = this.graph.gone(reference.uid);
    if (owner !== undefined && owner.key.name === reference.name && owner.type.kind === reference.kind) {
      if (owner.type.group === groupOf(reference.apiVersion) && canBeOwnedBy(dependent, owner)) return true;
    }
    return this.absent.has(reference, dependent);
  }

  /** Adds an object, or its new state, to the graph. */
  learn(node: Node): void {
    if (node.uid === '') return;
    const previous = this.graph.put(node);
    if (previous === undefined)
      for (const dependent of this.graph.dependentsOf(node.uid)) {
        const reference = dependent.owners.find(({ uid }) => uid === node.uid);
        if (reference !== undefined) tellForeignOwner(dependent, node, reference, this.#recorder);
      }
    if (previous === undefined || !sameOwners(previous, node)) {
      const before = new Set(previous?.owners.map(({ uid }) => uid));
      for (const reference of node.owners) {
        const owner = before.has(reference.uid) ? undefined : this.graph.get(reference.uid);
        if (owner !== undefined) tellForeignOwner(node, owner, reference, this.#recorder);
      }
      if (node.owners.length > 0) this.wake(node.uid, 'owners changed');
      for (const { uid } of previous?.owners ?? []) if (this.graph.get(uid)) this.wake(uid, 'dependent changed');
    }
    if (node.waitsForDependents && !previous?.waitsForDependents) {
      // The dependents are woken first: nothing else wakes them once the owner no longer waits, and others may hold it
      // for long.
      for (const { uid } of this.graph.dependentsOf(node.uid)) this.wake(uid, 'owner is being deleted');
      this.wake(node.uid, 'waits for dependents');
    }
    if (node.orphansDependents && !previous?.orphansDependents) this.wake(node.uid, 'orphans dependents');
  }

  /** Removes a deleted object from the graph. */
  forget(uid: string): void {
    const node = this.graph.end(uid);
    const dependents = this.graph.dependentsOf(uid);
    for (const dependent of dependents) this.wake(dependent.uid, 'owner deleted');
    for (const owner of node?.owners ?? []) if (this.graph.get(owner.uid)) this.wake(owner.uid, 'dependent deleted');
  }
}

/**
 * Records an Event for an object with an owner in another namespace. It is deleted as if the owner did not exist, and
 * the owner's name alone does not explain that.
 */
function tellForeignOwner(dependent: Node, owner: Node, reference: OwnerReference, recorder: EventRecorder): void {
  if (canBeOwnedBy(dependent, owner)) return;
  const { type, key, uid } = dependent;
  const { namespace = '' } = key;
  const ownerText = `${reference.apiVersion}/${reference.kind}, namespace: ${namespace}, name: ${reference.name}`;
  const metadata = { name: key.name, uid, ...(namespace === '' ? {} : { namespace }) };
  recorder.record(
    { apiVersion: groupVersion(type), kind: type.kind, metadata },
    {
      type: 'Warning',
      reason: 'OwnerRefInvalidNamespace',
      message: `ownerRef [${ownerText}, uid: ${reference.uid}] does not exist in namespace ${quote(namespace)}`,
    },
  );
}

const referenceText = ({ uid, blockOwnerDeletion, name: owner, kind, apiVersion }: OwnerReference): string =>
  JSON.stringify([uid, blockOwnerDeletion === true, owner, kind, apiVersion]);
const sameOwners = (a: Node, b: Node): boolean =>
  a.owners.length === b.owners.length &&
  a.owners.every((owner, at) => {
    const other = b.owners[at];
    return other !== undefined && referenceText(owner) === referenceText(other);
  });
