import { isList, isObject, type Json, type JsonObject, member } from '../api/object.js';

/** An operation of a JSON Patch (RFC 6902), limited to those that differences need. */
export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string };

/**
 * Returns the JSON Patch that turns one value into another; empty if they are equal. Items of lists are compared by
 * position, so that an inserted item replaces what follows.
 */
export function jsonDifference(before: Json, after: Json): readonly PatchOperation[] {
  const operations: PatchOperation[] = [];
  // Iterative, because objects may be nested as deeply as a server accepts.
  const pairs: (readonly [Json, Json, string])[] = [[before, after, '']];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [from, to, path] = pair;
    if (isObject(from) && isObject(to)) {
      for (const name of Object.keys(from)) {
        if (!Object.hasOwn(to, name)) operations.push({ op: 'remove', path: pointerTo(path, name) });
      }
      for (const name of Object.keys(to)) {
        const value = memberOf(to, name);
        if (Object.hasOwn(from, name)) pairs.push([memberOf(from, name), value, pointerTo(path, name)]);
        else operations.push({ op: 'add', path: pointerTo(path, name), value });
      }
    } else if (isList(from) && isList(to)) {
      // From the end, because removing an item moves up those after it.
      for (let index = from.length - 1; index >= to.length; index--) {
        operations.push({ op: 'remove', path: pointerTo(path, String(index)) });
      }
      for (const [index, value] of to.entries()) {
        if (index < from.length) pairs.push([from[index] ?? null, value, pointerTo(path, String(index))]);
        else operations.push({ op: 'add', path: pointerTo(path, '-'), value });
      }
    } else if (from !== to) operations.push({ op: 'replace', path, value: to });
  }
  return operations;
}

const memberOf = (object: JsonObject, name: string): Json => member(object, name) ?? null;

/** Returns the JSON Pointer (RFC 6901) of a member or item. */
const pointerTo = (path: string, name: string): string => `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
