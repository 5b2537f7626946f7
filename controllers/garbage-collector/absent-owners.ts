import { groupOf, type OwnerReference } from '../../src/api/object.js';
import { BoundedMap } from '../../src/runtime/bounded-map.js';
import type { Node } from './owner-graph.js';

/** The same number as in kube-controller-manager. */
const most = 500;

/**
 * The most recently used owners that are known to be gone: once a definition is deleted, the server cannot be asked for
 * its objects. A uid is never used again, so the entries never become wrong.
 */
export class AbsentOwners {
  /** The absent owners, by coordinates. */
  readonly #known = new BoundedMap<string, true>(most);

  /** Adds an owner. `namespace` is that of the owner; undefined for a cluster-scoped one. */
  add(reference: OwnerReference, namespace: string | undefined): void {
    this.#known.set(coordinates(reference, namespace), true);
  }

  /** Whether the owner in an object's reference is gone: a cluster-scoped one, or one in the object's namespace. */
  has(reference: OwnerReference, { key }: Node): boolean {
    const found = [undefined, key.namespace].map((namespace) => coordinates(reference, namespace));
    const known = found.find((one) => this.#known.get(one));
    if (known !== undefined) this.#known.set(known, true);
    return known !== undefined;
  }
}

/** Returns the coordinates of an owner, without the version: an owner is gone in all versions at once. */
const coordinates = ({ apiVersion, kind, name, uid }: OwnerReference, namespace = ''): string =>
  JSON.stringify([groupOf(apiVersion), kind, namespace, name, uid]);
