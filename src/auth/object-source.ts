import type { ApiObject, ObjectKey, ResourceType } from '../api/object.js';

/**
 * Reads stored objects for the server's own decisions, without authentication and authorization. Results are never
 * older than the latest write of this server.
 */
export interface ObjectSource {
  get<T extends ApiObject>(type: ResourceType<T>, key: ObjectKey): Promise<T | undefined>;
  /** Whether there is an object of a type. */
  hasAny(type: ResourceType): Promise<boolean>;
  /**
   * Returns all objects of a type. The array stays the same until one of them changes, so that an index of it can be
   * cached. Once the objects have been read, the result is no promise, because it is needed for every request.
   */
  list<T extends ApiObject>(type: ResourceType<T>): readonly T[] | Promise<readonly T[]>;
}
