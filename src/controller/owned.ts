import { type ApiObject, groupOf, type ResourceType } from '../api/object.js';
import type { Trigger } from './controller.js';

/**
 * For `alsoOn`: a change of what has an object of the controller's kind for its controller (`controllerReference`) wakes that
 * object. Nothing but metadata is watched and held in memory.
 */
export const owned = <S extends ApiObject>(
  on: ResourceType<S>,
  { owner }: { readonly owner: ResourceType },
): Trigger<S> => ({
  on,
  metadataOnly: true,
  keys: async ({ metadata: { namespace, ownerReferences = [] } }) =>
    ownerReferences
      .filter((one) => one.controller === true && one.kind === owner.kind && groupOf(one.apiVersion) === owner.group)
      .map(({ name }) => (owner.namespaced ? { namespace, name } : { name })),
});
