import { type ApiObject, groupOf, type ResourceType } from '../api/object.js';
import type { Trigger } from './controller.js';
import { type HeldFormOptions, heldForm } from './identity-and-owners.js';

/** The kind of the owners, and the form in which owned objects are held. */
export interface OwnedOptions extends HeldFormOptions {
  /** The controller's kind. */
  readonly owner: ResourceType;
}

/**
 * For `alsoOn`: a change of what has an object of the controller's kind for its controller (`controllerReference`) wakes that
 * object. Unless it is wanted whole, nothing but metadata is watched; name, uid, version and owners are held in memory.
 */
export const owned = <S extends ApiObject>(on: ResourceType<S>, { owner, ...form }: OwnedOptions): Trigger<S> => ({
  on,
  ...heldForm(form),
  keys: async ({ metadata: { namespace, ownerReferences = [] } }) =>
    ownerReferences
      .filter((one) => one.controller === true && one.kind === owner.kind && groupOf(one.apiVersion) === owner.group)
      .map(({ name }) => (owner.namespaced ? { namespace, name } : { name })),
});
