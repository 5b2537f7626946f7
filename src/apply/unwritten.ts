import { isObject, type JsonObject } from '../api/object.js';
import { oncePer } from '../api/once.js';
import { isEmpty } from '../schema/presence.js';
import type { Schema } from '../schema/schema.js';
import { withMember, withoutMember } from './json-value.js';

/**
 * Returns the object without the empty members that decoding keeps but that are never written, and therefore never
 * owned.
 */
export function withoutUnwritten(schema: Schema, object: JsonObject): JsonObject {
  let result = object;
  for (const path of pathsOf(schema)) result = withoutEmpty(result, path);
  return result;
}

type Path = readonly string[];

/** The paths of such members in a kind; hardly any kind has some. */
const pathsOf = oncePer((schema: Schema): readonly Path[] =>
  schema.wire === undefined ? [] : [...pathsWithin(schema)].filter(([root]) => root !== 'metadata'),
);

/**
 * Yields the paths, except for those in lists and maps: lists of structs are owned as a whole, and schemas contain
 * themselves only there.
 */
function* pathsWithin(schema: Schema): Generator<Path> {
  for (const [name, of] of schema.properties ?? []) {
    if (of.wire?.keepsEmpty === true) yield [name];
    else for (const path of pathsWithin(of)) yield [name, ...path];
  }
}

function withoutEmpty(object: JsonObject, [name = '', ...rest]: Path): JsonObject {
  const value = object[name];
  if (value === undefined) return object;
  if (rest.length === 0) return isEmpty(value) ? withoutMember(object, name) : object;
  if (!isObject(value)) return object;
  const inner = withoutEmpty(value, rest);
  return inner === value ? object : withMember(object, name, inner);
}
