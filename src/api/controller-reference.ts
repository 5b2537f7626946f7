import type { ApiObject, OwnerReference } from './object.js';

/**
 * For `metadata.ownerReferences` of what a controller makes for an object: it goes with the object, and has no other
 * controller. The object is one that the server answered, since it has to have a uid. Where the server asks who may block
 * deletions, its author needs `update` on the owner's `finalizers`.
 */
export const controllerReference = ({ apiVersion, kind, metadata }: ApiObject): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name ?? '',
  uid: metadata.uid ?? '',
  controller: true,
  blockOwnerDeletion: true,
});
