import type { Json, JsonObject } from '../api/object.js';
import { put } from './prune.js';

/** Deeper values are cut off in messages. */
const deepest = 100;

/** A value of a custom resource as messages show it: members in alphabetical order, as in Go's maps. */
export function printable(value: Json, depth = 0): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= deepest) return '...';
  if (Array.isArray(value)) return value.map((item: Json) => printable(item, depth + 1));
  const object = value as JsonObject;
  const out: Record<string, Json> = {};
  for (const name of Object.keys(object).sort()) put(out, name, printable(object[name] ?? null, depth + 1));
  return out;
}
