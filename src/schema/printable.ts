import { type Json, type JsonObject, setMember } from '../api/object.js';
import { sortedNames } from '../api/text-order.js';

/** The depth at which messages cut off values. */
const deepest = 100;

/** Returns a value of a custom resource as messages show it: with members sorted by name, like Go's maps. */
export function printable(value: Json, depth = 0): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= deepest) return '...';
  if (Array.isArray(value)) return value.map((item: Json) => printable(item, depth + 1));
  const object = value as JsonObject;
  const out: Record<string, Json> = {};
  for (const name of sortedNames(object)) setMember(out, name, printable(object[name] ?? null, depth + 1));
  return out;
}
