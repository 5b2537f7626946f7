import { type ApiError, badRequest } from '../api/errors.js';
import type { ObjectKey } from '../api/object.js';
import { checkName } from '../api/request-keys.js';

/**
 * A resource, as far as it determines the keys of its objects in the store: `<group>/<plural>/[<namespace>/]<name>`,
 * with the core group as `core`.
 */
interface StorageResource {
  readonly group: string;
  readonly homeGroup?: string;
  /** Set for resources that are stored under the prefix of another group. */
  readonly storedAs?: { readonly group: string };
  readonly plural: string;
  readonly namespaced: boolean;
}

const homeOf = ({ storedAs, homeGroup, group }: StorageResource): string => storedAs?.group ?? homeGroup ?? group;

/** Returns the key prefix of all objects of a resource, or of those in one namespace. Ends with `/`. */
export const storagePrefix = (resource: StorageResource, namespace?: string): string => {
  const group = homeOf(resource);
  const base = `${group === '' ? 'core' : group}/${resource.plural}/`;
  return resource.namespaced && namespace ? `${base}${namespace}/` : base;
};

export const storageKey = (resource: StorageResource, { namespace, name }: ObjectKey): string =>
  `${storagePrefix(resource, namespace)}${name}`;

export const namespaceRequired = (): ApiError => badRequest('Namespace parameter required.');

/**
 * Throws for a key that cannot be that of an object: without a namespace for a namespaced kind, or with a name that no
 * object can have.
 */
export function checkLookupKey({ namespaced }: { readonly namespaced: boolean }, { namespace, name }: ObjectKey): void {
  if (namespaced && namespace === '') throw namespaceRequired();
  checkName(name);
}

/**
 * Returns a predicate: whether the objects of a group and plural share a storage prefix, or the group and plural, with
 * one of these kinds.
 */
export function overlapping(kinds: readonly StorageResource[]): (group: string, plural: string) => boolean {
  const locations = new Set(
    kinds.flatMap((kind) => [`${kind.group}/${kind.plural}`, `${homeOf(kind)}/${kind.plural}`]),
  );
  return (group, plural) => locations.has(`${group}/${plural}`);
}

/** Returns the part of a storage key after the prefix of the resource: `namespace/name` or `name`. */
export const relativeKey = (resource: StorageResource, key: string): string =>
  key.slice(storagePrefix(resource).length);
