import { Complaints } from '../api/complaints.js';
import { isList, isObject, type Json, type JsonObject, setMember } from '../api/object.js';
import { sortTexts } from '../api/text-order.js';
import type { Schema } from './schema.js';

/** The members that every resource has, even if its schema does not name them. */
export const metaFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

export interface Pruned<T extends Json> {
  /** The pruned value; the same object if nothing was dropped. */
  readonly value: T;
  /** The paths of unknown fields, such as `spec.a[0].b`, sorted. */
  readonly unknownFields: readonly string[];
}

/**
 * Removes members that the schema does not name. `apiVersion`, `kind` and `metadata` of embedded resources are kept,
 * and those of the value itself if it is a `resource`. Nodes that preserve unknown fields keep them, but members that
 * these nodes name are pruned inside.
 */
export function prune<T extends Json>(value: T, schema: Schema, { resource = false } = {}): Pruned<T> {
  const unknownFields = new Complaints({ most: Infinity });
  const root = resource && !schema.embeddedResource ? { ...schema, embeddedResource: true } : schema;
  const pruned = visit(value, root, '', unknownFields);
  // Pruning keeps the type of a value: objects stay objects, lists stay lists, other values are returned unchanged.
  return { value: pruned as T, unknownFields: sortTexts([...unknownFields.texts]) };
}

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);
const nothing: Schema = {};

function visit(value: Json, schema: Schema, path: string, unknown: Complaints): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) {
    if (schema === nothing) return visitUntyped(value, path, unknown, 0);
    if (schema.preserveUnknownFields && schema.items === undefined) return value;
    return mapList(value, (item, at) => {
      const inner = schema.items ?? nothing;
      const keeps = schema.preserveUnknownFields && !inner.preserveUnknownFields;
      return visit(item, keeps ? { ...inner, preserveUnknownFields: true } : inner, `${path}[${at}]`, unknown);
    });
  }
  if (!isObject(value)) return value;
  const { properties, additionalProperties, preserveUnknownFields, embeddedResource } = schema;
  return mapObject(value, (member, name) => {
    if (embeddedResource && metaFields.has(name)) return member;
    const inner = properties?.get(name);
    if (inner) return visit(member, inner, join(path, name), unknown);
    if (additionalProperties !== undefined) {
      const others = typeof additionalProperties === 'object' ? additionalProperties : nothing;
      return visit(member, others, join(path, name), unknown);
    }
    if (preserveUnknownFields) return member;
    if (!metaFields.has(name) || path !== '') unknown.add(() => join(path, name));
    return undefined;
  });
}

/** The maximum nesting of lists. Only lists without a schema can be deeper; deeper parts are dropped. */
const deepestLists = 1_000;

/** Prunes a list without a schema: lists in it are kept, objects lose their members. */
function visitUntyped(items: readonly Json[], path: string, unknown: Complaints, depth: number): readonly Json[] {
  if (depth >= deepestLists) return [];
  return mapList(items, (item, at) =>
    isList(item)
      ? visitUntyped(item, `${path}[${at}]`, unknown, depth + 1)
      : visit(item, nothing, `${path}[${at}]`, unknown),
  );
}

/** Returns the list with every item replaced; the same list if nothing changes. */
export function mapList(items: readonly Json[], change: (item: Json, at: number) => Json): readonly Json[] {
  let changed: Json[] | undefined;
  for (let at = 0; at < items.length; at++) {
    const item = items[at] ?? null;
    const next = change(item, at);
    if (next !== item) changed ??= items.slice(0, at);
    changed?.push(next);
  }
  return changed ?? items;
}

/**
 * Returns the object with every member replaced, or dropped if `change` returns undefined; the same object if nothing
 * changes.
 */
export function mapObject(object: JsonObject, change: (member: Json, name: string) => Json | undefined): JsonObject {
  const names = Object.keys(object);
  let out: Record<string, Json> | undefined;
  for (let at = 0; at < names.length; at++) {
    const name = names[at] ?? '';
    const member = object[name] ?? null;
    const next = change(member, name);
    if (next === member && out === undefined) continue;
    if (out === undefined) {
      out = {};
      for (const before of names.slice(0, at)) setMember(out, before, object[before] ?? null);
    }
    if (next !== undefined) setMember(out, name, next);
  }
  return out ?? object;
}
