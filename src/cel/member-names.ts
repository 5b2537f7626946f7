import type { JsonObject } from '../api/object.js';

const known = new WeakMap<JsonObject, readonly string[]>();

/**
 * Names of the members of an object that does not change any more. Expressions ask for the size of a map or for its first
 * member as often as they like, and finding all names takes longer the more there are.
 */
export function memberNames(object: JsonObject): readonly string[] {
  const before = known.get(object);
  if (before !== undefined) return before;
  const names = Object.keys(object);
  known.set(object, names);
  return names;
}
