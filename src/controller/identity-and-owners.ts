import type { ApiObject } from '../api/object.js';

/** How much of the objects that it watches a trigger holds in memory. */
export interface HeldFormOptions {
  /**
   * Watches and holds objects whole, for a `reconcile` that reads them from a `sharedCache`: only the same watch has what
   * it woke for. Default false.
   */
  readonly whole?: boolean;
}

/** Returns the cache options for whole objects, or for identity and owners only. */
export const heldForm = ({
  whole = false,
}: HeldFormOptions): { readonly metadataOnly?: true; readonly transform?: typeof identityAndOwners } =>
  whole ? {} : { metadataOnly: true, transform: identityAndOwners };

/**
 * Reduces an object to its identity and owners, for memory: other metadata may be large, and the last-applied annotation of
 * a Secret contains all its data.
 */
export function identityAndOwners<T extends ApiObject>({ apiVersion, kind, metadata }: T): T {
  const { name, namespace, uid, resourceVersion, ownerReferences } = metadata;
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion, ownerReferences } } as T;
}
