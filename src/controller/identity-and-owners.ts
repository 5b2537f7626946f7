import type { ApiObject } from '../api/object.js';

/** In what form a trigger holds what it watches. */
export interface HeldFormOptions {
  /**
   * Watches and holds objects whole, for a `reconcile` that reads them from a `sharedCache`: only the same watch has what
   * it woke for. Default false.
   */
  readonly whole?: boolean;
}

/** Whole, or what is needed to tell objects apart. */
export const heldForm = ({
  whole = false,
}: HeldFormOptions): { readonly metadataOnly?: true; readonly transform?: typeof identityAndOwners } =>
  whole ? {} : { metadataOnly: true, transform: identityAndOwners };

/**
 * All that is held in memory of what is only to be told apart: other metadata may be large, and of a Secret that was
 * applied by kubectl an annotation has all its data.
 */
export function identityAndOwners<T extends ApiObject>({ apiVersion, kind, metadata }: T): T {
  const { name, namespace, uid, resourceVersion, ownerReferences } = metadata;
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion, ownerReferences } } as T;
}
