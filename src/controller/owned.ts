import { type ApiObject, groupOf, type ResourceType } from '../api/object.js';
import type { Trigger } from './controller.js';
import { type HeldFormOptions, heldForm } from './identity-and-owners.js';

/** The kind of the owners, and the form in which owned objects are held. */
export interface OwnedOptions extends HeldFormOptions {
  /** The controller's kind. */
  readonly owner: ResourceType;
}

/**
 * Returns a trigger for `alsoOn`: a change to an object whose controller (`controllerReference`) is of the controller's
 * kind wakes that owner. Unless `whole` is set, only metadata is watched, and name, uid, version and owners are held in
 * memory.
 */
export const owned = <S extends ApiObject>(on: ResourceType<S>, { owner, ...form }: OwnedOptions): Trigger<S> => ({
  on,
  ...heldForm(form),
  keys: async ({ metadata: { namespace, ownerReferences = [] } }) =>
    ownerReferences
      .filter((one) => one.controller === true && one.kind === owner.kind && groupOf(one.apiVersion) === owner.group)
      .map(({ name }) => (owner.namespaced ? { namespace, name } : { name })),
});
