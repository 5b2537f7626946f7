import { sortedJson } from '../api/go-text.js';
import { isObject, type Json, type JsonObject } from '../api/object.js';
import { child, duplicate, index, invalid, mapKey, type Violation } from '../api/violations.js';
import { printable } from './printable.js';
import type { Schema } from './schema.js';
import { someSubschema } from './some-subschema.js';

/** Returns a violation for each repeated item of a set list and each repeated key of a map list, at its second occurrence. */
export function listTypeViolations(value: Json | undefined, schema: Schema): readonly Violation[] {
  if (!hasListTypes(schema)) return [];
  const found: Violation[] = [];
  visit(value, schema, '', found);
  return found;
}

const hasListTypes = someSubschema(({ listType }) => listType === 'set' || listType === 'map');

function visit(value: unknown, schema: Schema, path: string, found: Violation[]): void {
  if (!hasListTypes(schema)) return;
  if (Array.isArray(value)) {
    if (schema.listType === 'set') {
      for (const at of repeats(value.map(identity))) found.push(duplicate(index(path, at), printable(value[at])));
    }
    if (schema.listType === 'map') {
      for (const violation of repeatedKeys(value, new Set(schema.listMapKeys), path)) found.push(violation);
    }
    const { items } = schema;
    if (items) {
      value.forEach((item, at) => {
        visit(item, items, index(path, at), found);
      });
    }
    return;
  }
  if (!isObject(value)) return;
  const { properties, additionalProperties } = schema;
  for (const name of Object.keys(value)) {
    const inner = properties?.get(name);
    if (typeof additionalProperties === 'object') visit(value[name], additionalProperties, mapKey(path, name), found);
    if (inner) visit(value[name], inner, child(path, name), found);
  }
}

/** Returns a value that is the same for equal items, and cheap for scalars. */
const identity = (item: unknown): unknown =>
  typeof item === 'object' && item !== null ? `\u0000${sortedJson(item as Json)}` : item;

/** Returns the indexes of second occurrences, by identities that are the same for equal items. */
function* repeats(identities: readonly unknown[]): Generator<number> {
  if (new Set(identities).size === identities.length) return;
  const times = new Map<unknown, number>();
  for (const [at, key] of identities.entries()) {
    const before = times.get(key) ?? 0;
    times.set(key, before + 1);
    if (before === 1) yield at;
  }
}

const noKey = Symbol('no key');

/** Returns a value that is the same for items with equal keys. */
function keyIdentity(item: unknown, keys: ReadonlySet<string>): unknown {
  const [key] = keys;
  if (keys.size !== 1 || key === undefined) return sortedJson(keysOf(item, keys));
  return isObject(item) && Object.hasOwn(item, key) ? identity(item[key]) : noKey;
}

function repeatedKeys(items: readonly unknown[], keys: ReadonlySet<string>, path: string): readonly Violation[] {
  const wrong = items.findIndex((item) => item !== null && !isObject(item));
  if (wrong >= 0) {
    return [
      invalid(index(path, wrong), printable(items[wrong] as Json), 'must be an object for an array of list-type map'),
    ];
  }
  return [...repeats(items.map((item) => keyIdentity(item, keys)))].map((at) =>
    duplicate(index(path, at), printable(keysOf(items[at], keys))),
  );
}

/** Returns the key members of an item; absent ones are left out. */
function keysOf(item: unknown, keys: ReadonlySet<string>): JsonObject {
  if (!isObject(item)) return {};
  return Object.fromEntries(Object.entries(item).filter(([name]) => keys.has(name)));
}
