import type { ApiObject } from '../api/object.js';

/** The form in which a trigger holds the objects it watches. */
export interface HeldFormOptions {
  /**
   * Whether whole objects are watched and held in memory, for a `reconcile` that reads them from a `sharedCache`: only
   * the same watch is certain to have the object that triggered the reconcile. False by default.
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
