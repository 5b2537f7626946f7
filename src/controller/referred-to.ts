import { type ApiObject, keyOf, keyText, type ObjectKey, type ResourceType } from '../api/object.js';
import type { ObjectCache } from '../client/object-cache.js';
import { indexBy, type ObjectIndex } from '../client/object-index.js';
import type { Trigger } from './controller.js';
import { identityAndOwners } from './identity-and-owners.js';

/**
 * For `alsoOn`: a change of an object wakes the objects of the controller's kind (`by`) that refer to it, also before it
 * exists. `keys` says what an object refers to, as the controller holds it in memory; one for which it throws refers to
 * nothing. Of what is referred to nothing but metadata is watched; name, uid, version and owners are held in memory.
 */
export function referredTo<S extends ApiObject, T extends ApiObject>(
  on: ResourceType<S>,
  { keys }: { readonly by: ResourceType<T>; keys(object: T): readonly ObjectKey[] },
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
    metadataOnly: true,
    transform: identityAndOwners,
    keys: async (changed, _client, objects) =>
      indexOf(objects)
        .get(keyText(keyOf(changed)))
        .map(keyOf),
  };
}
