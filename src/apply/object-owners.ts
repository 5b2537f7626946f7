import { type ApiObject, isObject, type Json, type JsonObject } from '../api/object.js';
import type { Steps } from '../api/steps.js';
import { noOwners, type Owners, readManagedFields, writeManagedFields } from './managed-fields.js';

/** Reads and writes the owners in the metadata of an object. */

/** Returns the owners of a stored object; none if its managedFields cannot be read. */
export function* storedOwners(object: JsonObject | undefined): Steps<Owners> {
  try {
    return object === undefined ? noOwners : yield* readManagedFields(managedFieldsOf(object), { stored: true });
  } catch {
    return noOwners;
  }
}

const metadataOf = (object: JsonObject): JsonObject => {
  const metadata = object['metadata'];
  return isObject(metadata) ? metadata : {};
};
/** Returns the managedFields of an object, not parsed. */
export const managedFieldsOf = (object: JsonObject): Json | undefined => metadataOf(object)['managedFields'];
/** Whether the object has a uid, which means that it is stored already. */
export const hasUid = (object: JsonObject | undefined): boolean =>
  object !== undefined && Boolean(metadataOf(object)['uid']);

/** Returns the object without managedFields. */
export function withoutOwners(object: JsonObject): JsonObject {
  const metadata = metadataOf(object);
  if (!Object.hasOwn(metadata, 'managedFields')) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}

/** Returns the object with these owners as its managedFields. */
export function* withOwners(object: JsonObject, owners: Owners): Steps<ApiObject> {
  if (owners.size === 0) return withoutOwners(object) as unknown as ApiObject;
  const managedFields = (yield* writeManagedFields(owners)) as unknown as Json;
  return { ...object, metadata: { ...metadataOf(object), managedFields } } as unknown as ApiObject;
}
