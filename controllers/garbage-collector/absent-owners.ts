import { groupOf, groupVersion, type OwnerReference } from '../../src/api/object.js';
import type { Node } from './owner-graph.js';

/** As many as kube-controller-manager remembers. */
const most = 500;

/**
 * Owners known to be gone, the last used of them: once a definition is deleted, nobody can be asked for its objects any
 * more. A uid is never used again, so that what is here stays true.
 */
export class AbsentOwners {
  /** Coordinates, the least recently used first. */
  readonly #known = new Set<string>();

  /** `namespace` is that of the owner; undefined for one outside of namespaces. */
  add(reference: OwnerReference, namespace: string | undefined): void {
    this.#use(coordinates(reference, namespace));
    const [oldest] = this.#known;
    if (this.#known.size > most && oldest !== undefined) this.#known.delete(oldest);
  }

  addNode({ uid, type, key }: Node): void {
    const apiVersion = groupVersion(type);
    this.add({ apiVersion, kind: type.kind, name: key.name, uid }, key.namespace);
  }

  /** Whether the owner that an object means is gone: one outside of namespaces, or in the object's own. */
  has(reference: OwnerReference, { key }: Node): boolean {
    const found = [undefined, key.namespace].map((namespace) => coordinates(reference, namespace));
    const known = found.find((one) => this.#known.has(one));
    if (known !== undefined) this.#use(known);
    return known !== undefined;
  }

  #use(owner: string): void {
    this.#known.delete(owner);
    this.#known.add(owner);
  }
}

/** In whichever version: all of them are gone at once. */
const coordinates = ({ apiVersion, kind, name, uid }: OwnerReference, namespace = ''): string =>
  JSON.stringify([groupOf(apiVersion), kind, namespace, name, uid]);
