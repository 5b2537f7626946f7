import type { ApiObject, ObjectKey, ResourceType } from '../api/object.js';

/**
 * Reads stored objects for the server's own decisions, past authentication and authorization. Results are never older than
 * the latest write of this server.
 */
export interface ObjectSource {
  get<T extends ApiObject>(type: ResourceType<T>, key: ObjectKey): Promise<T | undefined>;
  /**
   * All objects of a type. The same array until one of them changes, so that an index built of it can be kept with it;
   * no promise once they were read, because every request asks.
   */
  list<T extends ApiObject>(type: ResourceType<T>): readonly T[] | Promise<readonly T[]>;
}
