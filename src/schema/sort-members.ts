import { sortedObject } from '../api/json-text.js';
import { type Json, type JsonObject, setMember } from '../api/object.js';
import { hasSurrogates, sortTexts } from '../api/text-order.js';

/**
 * Sorts the members of objects. Alphabetical order is that of code units, which are compared fastest. Go has another
 * order for names with characters beyond the basic plane: `sortByBytes` moves these names, and is needed only for texts
 * with such characters.
 */

/** Whether an object has members, and whether they are in alphabetical order. */
export function memberOrder(object: object): 'empty' | 'sorted' | 'unsorted' {
  let previous: string | undefined;
  for (const name in object) {
    if (previous !== undefined && name < previous) return 'unsorted';
    previous = name;
  }
  return previous === undefined ? 'empty' : 'sorted';
}

/** Whether names are strictly ascending, so that none is repeated. */
export const isSortedByName = (names: readonly string[]): boolean =>
  names.every((name, at) => at === 0 || (names[at - 1] ?? '') < name);

/** Returns the same members in alphabetical order; the object itself if they are already sorted. */
function sortMembers<T extends Json>(object: { readonly [member: string]: T }): { readonly [member: string]: T } {
  return memberOrder(object) === 'unsorted' ? sortedObject(new Map(Object.entries<T>(object))) : object;
}

/** Returns the same members with names beyond the basic plane in Go's order; the object itself if there are none. */
function membersByBytes(object: JsonObject): JsonObject {
  const names = Object.keys(object);
  if (!names.some(hasSurrogates)) return object;
  const out: Record<string, Json> = {};
  for (const name of sortTexts(names)) setMember(out, name, object[name] as Json);
  return out;
}

/** Returns a function that arranges the members of every object in a value; unchanged parts are shared. */
function inEveryObject(arrange: (object: JsonObject) => JsonObject): (value: Json) => Json {
  return function arranged(value) {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      let out: Json[] | undefined;
      for (let at = 0; at < value.length; at++) {
        const item = value[at] as Json;
        const sorted = arranged(item);
        if (sorted !== item) {
          out ??= [...(value as readonly Json[])];
          out[at] = sorted;
        }
      }
      return out ?? value;
    }
    const object = value as JsonObject;
    let changed: Record<string, Json> | undefined;
    for (const name in object) {
      const member = object[name] as Json;
      if (typeof member !== 'object' || member === null) continue;
      const sorted = arranged(member);
      if (sorted === member) continue;
      changed ??= copyOf(object);
      setMember(changed, name, sorted);
    }
    return arrange(changed ?? object);
  };
}

/** Returns the same value with the members of every object in alphabetical order; unchanged parts are shared. */
export const sortDeep = inEveryObject((object) => sortMembers<Json>(object));

/** Returns the same value with names beyond the basic plane in Go's order; unchanged parts are shared. */
export const sortByBytes = inEveryObject(membersByBytes);

function copyOf(object: JsonObject): Record<string, Json> {
  const out: Record<string, Json> = {};
  for (const name of Object.keys(object)) setMember(out, name, object[name] as Json);
  return out;
}
