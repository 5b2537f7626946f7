import { type ApiObject, keyOf, keyText, type ObjectKey, type ResourceType } from '../api/object.js';
import type { ObjectCache } from '../client/object-cache.js';
import { indexBy, type ObjectIndex } from '../client/object-index.js';
import type { Trigger } from './controller.js';
import { type HeldFormOptions, heldForm } from './identity-and-owners.js';

/** Which objects refer to others, and to which. */
export interface ReferredToOptions<T extends ApiObject> extends HeldFormOptions {
  /** The controller's kind. */
  readonly by: ResourceType<T>;
  /** What an object refers to. */
  keys(object: T): readonly ObjectKey[];
}

/**
 * For `alsoOn`: a change of an object wakes the objects of the controller's kind (`by`) that refer to it, also before it
 * exists. `keys` says what an object refers to, as the controller holds it in memory; one for which it throws refers to
 * nothing. Unless it is wanted whole, nothing but metadata of it is watched; name, uid, version and owners are held in
 * memory.
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
