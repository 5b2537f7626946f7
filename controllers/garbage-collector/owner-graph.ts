import { type ApiObject, keyOf, type ObjectKey, type OwnerReference, type ResourceType } from '../../src/api/object.js';

/** An object in the owner graph. */
export interface Node {
  readonly uid: string;
  readonly type: ResourceType;
  readonly key: ObjectKey;
  readonly owners: readonly OwnerReference[];
  readonly deleting: boolean;
  /** Whether it is being deleted, but only after its dependents. */
  readonly waitsForDependents: boolean;
  /** Whether it is being deleted, and its dependents are to be orphaned. */
  readonly orphansDependents: boolean;
}

export const foregroundFinalizer = 'foregroundDeletion';
export const orphanFinalizer = 'orphan';

export function nodeOf(type: ResourceType, object: ApiObject): Node {
  const { uid = '', ownerReferences = [], deletionTimestamp, finalizers = [] } = object.metadata;
  const deleting = deletionTimestamp !== undefined;
  return {
    uid,
    type,
    key: keyOf(object),
    owners: ownerReferences,
    deleting,
    waitsForDependents: deleting && finalizers.includes(foregroundFinalizer),
    orphansDependents: deleting && finalizers.includes(orphanFinalizer),
  };
}

/** Whether an owner may own a dependent: a namespaced one only in its namespace, a cluster-scoped one anywhere. */
export const canBeOwnedBy = (dependent: Node, owner: Node): boolean =>
  !owner.type.namespaced || owner.key.namespace === dependent.key.namespace;

/** The graph of owners and dependents, by uid. Dependents of unknown owners are kept as well. */
export class OwnerGraph {
  readonly #nodes = new Map<string, Node>();
  readonly #dependents = new Map<string, Set<string>>();
  /** Deleted owners that other objects still refer to, without their own owners, which may be many. */
  readonly #gone = new Map<string, Node>();

  get size(): number {
    return this.#nodes.size;
  }

  get(uid: string): Node | undefined {
    return this.#nodes.get(uid);
  }

  /** Adds or replaces a node. Returns the previous one. */
  put(node: Node): Node | undefined {
    const previous = this.#take(node.uid);
    this.#nodes.set(node.uid, node);
    this.#gone.delete(node.uid);
    for (const { uid } of node.owners) {
      const known = this.#dependents.get(uid);
      if (known === undefined) this.#dependents.set(uid, new Set([node.uid]));
      else known.add(node.uid);
    }
    for (const owner of previous?.owners ?? []) this.#dropUnwanted(owner.uid);
    return previous;
  }

  /** Removes an object from the graph, whether or not it still exists. */
  remove(uid: string): Node | undefined {
    const node = this.#take(uid);
    for (const owner of node?.owners ?? []) this.#dropUnwanted(owner.uid);
    return node;
  }

  /**
   * Removes a deleted object, and remembers it as long as others refer to it, because its kind may be deleted as well.
   */
  end(uid: string): Node | undefined {
    const node = this.remove(uid);
    if (node !== undefined && this.#dependents.has(uid)) this.#gone.set(uid, { ...node, owners: [] });
    return node;
  }

  /** Returns a deleted object; undefined if it is not known to be deleted. */
  gone(uid: string): Node | undefined {
    return this.#gone.get(uid);
  }

  #dropUnwanted(uid: string): void {
    if (!this.#dependents.has(uid)) this.#gone.delete(uid);
  }

  #take(uid: string): Node | undefined {
    const node = this.#nodes.get(uid);
    if (node === undefined) return undefined;
    this.#nodes.delete(uid);
    for (const owner of node.owners) {
      const siblings = this.#dependents.get(owner.uid);
      siblings?.delete(uid);
      if (siblings?.size === 0) this.#dependents.delete(owner.uid);
    }
    return node;
  }

  dependentsOf(uid: string): readonly Node[] {
    return [...(this.#dependents.get(uid) ?? [])].flatMap((dependent) => this.#nodes.get(dependent) ?? []);
  }

  /** Returns the dependents whose reference has `blockOwnerDeletion`. */
  blockersOf(uid: string): readonly Node[] {
    return this.dependentsOf(uid).filter(({ owners }) =>
      owners.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true),
    );
  }

  nodesOf(isWanted: (node: Node) => boolean): readonly Node[] {
    return [...this.#nodes.values()].filter(isWanted);
  }
}
