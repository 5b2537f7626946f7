import type { ApiObject } from '../api/object.js';

/**
 * All that is held in memory of what is only to be told apart: other metadata may be large, and of a Secret that was
 * applied by kubectl an annotation has all its data.
 */
export function identityAndOwners<T extends ApiObject>({ apiVersion, kind, metadata }: T): T {
  const { name, namespace, uid, resourceVersion, ownerReferences } = metadata;
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion, ownerReferences } } as T;
}
