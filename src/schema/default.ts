import type { Json, JsonObject } from '../api/object.js';
import { mapList, mapObject, put } from './prune.js';
import type { Schema } from './schema.js';

/** What an absent or null value means, as the schema says: its default, nothing, or null itself. */

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
const missing = (value: Json | undefined, schema: Schema): boolean =>
  value === undefined || (value === null && schema.nullable !== true);

/**
 * Fills in defaults: absent members, and nulls where null is not a value, get theirs, and so does what the default
 * leaves out itself. Parents are never made up. The same value when nothing is missing.
 */
export function applyDefaults<T extends Json>(value: T, schema: Schema): T {
  // Objects stay objects, lists stay lists, the rest is returned as it is.
  return fill(value, schema) as T;
}

function fill(value: Json, schema: Schema): Json {
  if (typeof value !== 'object' || value === null || !hasDefaults(schema)) return value;
  if (isList(value)) {
    const { items } = schema;
    if (items === undefined) return value;
    return mapList(value, (item) => fill(missing(item, items) ? (items.default ?? item) : item, items));
  }
  if (!isObject(value)) return value;
  const { properties, additionalProperties } = schema;
  const others = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  const filled = mapObject(value, (member, name) => {
    const inner = properties?.get(name) ?? others;
    if (inner === undefined) return member;
    return fill(missing(member, inner) ? (inner.default ?? member) : member, inner);
  });
  return withAbsent(filled, properties);
}

function withAbsent(object: JsonObject, properties: Schema['properties']): JsonObject {
  let out: Record<string, Json> | undefined;
  for (const [name, inner] of properties ?? []) {
    if (inner.default === undefined || inner.default === null || Object.hasOwn(object, name)) continue;
    out ??= copy(object);
    put(out, name, fill(inner.default, inner));
  }
  return out ?? object;
}

function copy(object: JsonObject): Record<string, Json> {
  const out: Record<string, Json> = {};
  for (const name of Object.keys(object)) put(out, name, object[name] ?? null);
  return out;
}

/** Drops members that are null where null is neither a value nor replaced by a default. Items of lists stay. */
export function dropNulls<T extends Json>(value: T, schema: Schema): T {
  // Objects stay objects, lists stay lists, the rest is returned as it is.
  return drop(value, schema) as T;
}

function drop(value: Json, schema: Schema): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) {
    const { items } = schema;
    return items === undefined ? value : mapList(value, (item) => drop(item, items));
  }
  if (!isObject(value)) return value;
  const { properties, additionalProperties } = schema;
  const others = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  return mapObject(value, (member, name) => {
    const inner = properties?.get(name) ?? others;
    if (inner === undefined) return member;
    if (member === null) return inner.nullable || hasDefault(inner) ? member : undefined;
    return drop(member, inner);
  });
}

const hasDefault = (schema: Schema): boolean => schema.default !== undefined && schema.default !== null;

const answers = new WeakMap<Schema, boolean>();

/** Is there a default in this schema, or in one within it outside of junctors? Kept, because objects are many. */
function hasDefaults(schema: Schema): boolean {
  const answer = answers.get(schema);
  if (answer !== undefined) return answer;
  answers.set(schema, false);
  const found =
    hasDefault(schema) ||
    (schema.items !== undefined && hasDefaults(schema.items)) ||
    (typeof schema.additionalProperties === 'object' && hasDefaults(schema.additionalProperties)) ||
    [...(schema.properties?.values() ?? [])].some(hasDefaults);
  answers.set(schema, found);
  return found;
}
