import type { ApiObject, OwnerReference } from './object.js';

/**
 * Returns the entry of `metadata.ownerReferences` for an object that a controller makes for `owner`: it is deleted with the
 * owner, and has no other controller. The owner must come from the server, because it needs a uid. Where admission checks
 * who may block deletions, the controller needs `update` on the owner's `finalizers`.
 */
export const controllerReference = ({ apiVersion, kind, metadata }: ApiObject): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name ?? '',
  uid: metadata.uid ?? '',
  controller: true,
  blockOwnerDeletion: true,
});
