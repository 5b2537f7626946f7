import { type Json, type JsonObject, setMember } from '../api/object.js';

/** Changes members of JSON objects. Names come from users: `__proto__` is a member like any other. */

/** Returns a copy of the object with one member set. */
export function withMember(object: JsonObject, name: string, value: Json): JsonObject {
  const copy: Record<string, Json> = { ...object };
  setMember(copy, name, value);
  return copy;
}

/** Returns the object without one of its members. */
export function withoutMember(object: JsonObject, name: string): JsonObject {
  if (!Object.hasOwn(object, name)) return object;
  const copy: Record<string, Json> = {};
  for (const key of Object.keys(object)) if (key !== name) setMember(copy, key, object[key] ?? null);
  return copy;
}
