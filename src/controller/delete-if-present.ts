import { isReason } from '../api/errors.js';
import { type ApiObject, keyOf, type ResourceType } from '../api/object.js';
import type { Client, DeleteOptions } from '../client/client.js';

/** Options of `deleteIfPresent`. The uid of the object is always a precondition. */
export interface DeleteIfPresentOptions extends Omit<DeleteOptions, 'preconditions'> {
  /**
   * Whether the object is deleted only in the state that was read; the deletion then fails with Conflict if it was
   * written since. False by default.
   */
  readonly unchanged?: boolean;
}

/**
 * Deletes this object; fails with Conflict if another one has its name. Returns false if there is no object with the
 * name.
 */
export async function deleteIfPresent<T extends ApiObject>(
  client: Client,
  type: ResourceType<T>,
  object: ApiObject,
  { unchanged = false, ...options }: DeleteIfPresentOptions = {},
): Promise<boolean> {
  const { uid, resourceVersion } = object.metadata;
  const preconditions = {
    ...(uid === undefined ? {} : { uid }),
    ...(unchanged && resourceVersion !== undefined ? { resourceVersion } : {}),
  };
  try {
    await client.resource(type).delete(keyOf(object), { ...options, preconditions });
    return true;
  } catch (error) {
    if (!isReason(error, 'NotFound')) throw error;
    return false;
  }
}
