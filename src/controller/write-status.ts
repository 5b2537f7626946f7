import { isDeepStrictEqual } from 'node:util';
import { goJson } from '../api/go-text.js';
import { parseJson } from '../api/json-text.js';
import type { ApiObject } from '../api/object.js';
import type { ResourceClient, WriteOptions } from '../client/client.js';

/**
 * Writes a status through the status subresource if it differs. Fails with Conflict if the object was written since it
 * was read. Returns the current object.
 */
export async function writeStatus<T extends ApiObject & { readonly status?: unknown }>(
  resource: ResourceClient<T>,
  object: T,
  status: NonNullable<T['status']>,
  options?: WriteOptions,
): Promise<T> {
  // Members that are undefined are not sent.
  if (isDeepStrictEqual(object.status ?? {}, parseJson(goJson(status)))) return object;
  return resource.subresource('status').update({ ...object, status }, options);
}
