import { type ApiObject, keyOf, keyText, type ObjectKey, type ResourceType } from '../api/object.js';
import type { ObjectCache } from '../client/object-cache.js';
import { indexBy, type ObjectIndex } from '../client/object-index.js';
import type { Trigger } from './controller.js';
import { type HeldFormOptions, heldForm } from './identity-and-owners.js';

/** The references from objects of the controller's kind to others. */
export interface ReferredToOptions<T extends ApiObject> extends HeldFormOptions {
  /** The controller's kind. */
  readonly by: ResourceType<T>;
  /** Returns the keys of the objects that an object refers to. */
  keys(object: T): readonly ObjectKey[];
}

/**
 * Returns a trigger for `alsoOn`: a change to an object wakes the objects of the controller's kind (`by`) that refer to
 * it, also if they did so before it existed. `keys` gets the objects in the form that the controller holds in memory;
 * one for which it throws has no references. Unless `whole` is set, only metadata is watched, and name, uid, version
 * and owners are held in memory.
 */
export function referredTo<S extends ApiObject, T extends ApiObject>(
  on: ResourceType<S>,
  { keys, ...form }: ReferredToOptions<T>,
): Trigger<S> {
  // A trigger may be part of several controllers.
  const indexes = new WeakMap<object, ObjectIndex<ApiObject>>();
  const indexOf = (objects: ObjectCache<ApiObject>): ObjectIndex<ApiObject> => {
    const known = indexes.get(objects) ?? indexBy(objects, (object) => keys(object as T).map(keyText));
    indexes.set(objects, known);
    return known;
  };
  return {
    on,
    ...heldForm(form),
    keys: async (changed, _client, objects) =>
      indexOf(objects)
        .get(keyText(keyOf(changed)))
        .map(keyOf),
  };
}
