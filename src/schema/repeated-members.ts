import { type ExactJson, isList, isMembers, membersOf, RepeatedMembers } from '../api/json-exact.js';
import { itemsOf, type WireShape, wireShape } from './go-types.js';
import { isPointer } from './presence.js';
import type { Schema } from './schema.js';

/** The shapes whose values null resets. */
const nulled: ReadonlySet<WireShape> = new Set(['map', 'list', 'bytes', 'time', 'micro-time']);

/**
 * Returns the resulting value of a repeated member: Go decodes each occurrence into the existing value. Members of
 * structs and maps are merged, and so are structs at the same index of a list, until an occurrence is an empty list.
 * Null leaves numbers, strings and structs unchanged.
 */
export function mergeRepeated(schema: Schema, repeats: readonly ExactJson[]): ExactJson {
  const shape = wireShape(schema);
  const isNulled = nulled.has(shape) || isPointer(schema);
  const values = isNulled ? repeats.slice(repeats.lastIndexOf(null) + 1) : repeats.filter((value) => value !== null);
  if (shape === 'list') return mergeLists(itemsOf(schema), values.filter(isList));
  if (shape !== 'struct' && shape !== 'map') return values.at(-1) ?? null;
  if (values.length === 0) return null;
  const members = new Map<string, ExactJson[]>();
  for (const value of values) {
    for (const [name, member] of isMembers(value) ? membersOf(value) : []) {
      const before = shape === 'struct' ? members.get(name) : undefined;
      if (before === undefined) members.set(name, [member]);
      else before.push(member);
    }
  }
  return new RepeatedMembers(
    [...members].map(([name, all]) => {
      const of = shape === 'struct' ? schema.properties?.get(name) : undefined;
      return [name, of === undefined || all.length === 1 ? (all.at(-1) ?? null) : mergeRepeated(of, all)];
    }),
  );
}

/** Merges lists. Go keeps items beyond the end of a shorter list, and decodes into them when a longer one follows. */
function mergeLists(items: Schema, lists: readonly (readonly ExactJson[])[]): ExactJson {
  let places: ExactJson[][] = [];
  for (const list of lists) {
    if (list.length === 0) places = [];
    for (const [at, item] of list.entries()) {
      places[at] ??= [];
      places[at].push(item);
    }
  }
  const last = lists.at(-1);
  if (last === undefined) return null;
  return places.slice(0, last.length).map((all) => (all.length === 1 ? (all[0] ?? null) : mergeRepeated(items, all)));
}
