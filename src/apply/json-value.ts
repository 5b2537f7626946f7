import { type Json, type JsonObject, setMember } from '../api/object.js';

/** Telling JSON values apart, comparing and building them. Keys are data: `__proto__` is a member like any other. */

/** The object with one member set. */
export function withMember(object: JsonObject, name: string, value: Json): JsonObject {
  const copy: Record<string, Json> = { ...object };
  setMember(copy, name, value);
  return copy;
}

/** The object with one member left out. */
export function withoutMember(object: JsonObject, name: string): JsonObject {
  if (!Object.hasOwn(object, name)) return object;
  const copy: Record<string, Json> = {};
  for (const key of Object.keys(object)) if (key !== name) setMember(copy, key, object[key] ?? null);
  return copy;
}
