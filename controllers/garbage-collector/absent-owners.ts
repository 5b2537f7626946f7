import { groupOf, type OwnerReference } from '../../src/api/object.js';
import { BoundedMap } from '../../src/runtime/bounded-map.js';
import type { Node } from './owner-graph.js';

/** As many as kube-controller-manager remembers. */
const most = 500;

/**
 * Owners known to be gone, the last used of them: once a definition is deleted, nobody can be asked for its objects any
 * more. A uid is never used again, so that what is here stays true.
 */
export class AbsentOwners {
  /** The owners by coordinates. */
  readonly #known = new BoundedMap<string, true>(most);

  /** `namespace` is that of the owner; undefined for one outside of namespaces. */
  add(reference: OwnerReference, namespace: string | undefined): void {
    this.#known.set(coordinates(reference, namespace), true);
  }

  /** Whether the owner that an object means is gone: one outside of namespaces, or in the object's own. */
  has(reference: OwnerReference, { key }: Node): boolean {
    const found = [undefined, key.namespace].map((namespace) => coordinates(reference, namespace));
    const known = found.find((one) => this.#known.get(one));
    if (known !== undefined) this.#known.set(known, true);
    return known !== undefined;
  }
}

/** In whichever version: all of them are gone at once. */
const coordinates = ({ apiVersion, kind, name, uid }: OwnerReference, namespace = ''): string =>
  JSON.stringify([groupOf(apiVersion), kind, namespace, name, uid]);
