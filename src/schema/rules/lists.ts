import { isObject, type Json, type JsonObject, member } from '../../api/object.js';
import { once } from '../../api/once.js';
import { joined as listsJoined } from '../../cel/collections.js';
import { spend } from '../../cel/effort.js';
import { compared } from '../../cel/equality.js';
import { EvaluationAborted } from '../../cel/evaluation/frame.js';
import { escapeField } from '../../cel/field-names.js';
import { isJsonBacked } from '../../cel/json-values.js';
import { Duration, Failure, type ListValue, Timestamp, Uint, type Value } from '../../cel/values.js';

/**
 * Lists of custom resources as expressions see them (KEP-2876): set lists and map lists have their own comparison and
 * addition. Items are looked up by their Go values, as in Kubernetes, with all consequences of that.
 */

/** Converts an item that was added to a list to the value that the list contains. */
type ShowItem = (item: Value) => Value;

/** A list that grows at its end without copying: the cost of adding does not depend on the lengths of the lists. */
export const atomicList = (list: ListValue, see: ShowItem): ListValue => ({
  kind: 'list',
  ofResource: true,
  size: list.size,
  at: (index) => list.at(index),
  plus: (other) =>
    atomicList(listsJoined(list, { kind: 'list', size: other.size, at: (index) => see(other.at(index)) }), see),
});

/**
 * A list whose order is irrelevant. Addition appends the items that are not in it yet. Its own items are looked up as
 * they were sent, and others as expressions see them, so that integers of the type `number`, times and durations are
 * never found. Objects, lists and bytes cannot be looked up at all.
 */
export function setList(list: ListValue, values: readonly Json[], see: ShowItem): ListValue {
  return setByKeys(
    list,
    see,
    once(() => {
      spend(4 * values.length);
      return new Set(values.map(givenKey));
    }),
  );
}

function setByKeys(list: ListValue, see: ShowItem, keys: () => ReadonlySet<string>): ListValue {
  return {
    kind: 'list',
    ofResource: true,
    size: list.size,
    at: (index) => list.at(index),
    equals(other) {
      if (list.size !== other.size) return false;
      const own = keys();
      return items(other).every((item) => {
        const key = seenKey(item);
        return key !== undefined && own.has(key);
      });
    },
    plus(other) {
      const all = new Set(keys());
      const added: Value[] = [];
      for (const item of items(other)) {
        const key = seenKey(item);
        if (key !== undefined && all.has(key)) continue;
        if (key !== undefined) all.add(key);
        added.push(see(item));
      }
      return setByKeys(joined(items(list), added), see, () => all);
    },
  };
}

/**
 * A list of objects that are identified by key fields. Addition replaces an item with the same keys. Among items with
 * equal keys, which are invalid, the last one is found and the others are kept, as in Kubernetes. The same happens if
 * the name of a key is escaped in expressions (`namespace`): Kubernetes looks for the escaped name, and finds no value.
 * `see` converts an item from elsewhere to one of this list.
 */
export function keyedList(list: ListValue, keyFields: readonly string[], see: (item: JsonObject) => Value): ListValue {
  const fields = keyFields.map((field) => escapeField(field) ?? field);
  // Lists derived from this one share its items.
  const known = new WeakMap<object, string>();
  const keyOf: KeyOf = (item) => {
    if (!isJsonObject(item)) return undefined;
    const before = known.get(item.json);
    if (before !== undefined) return before;
    const key = itemKey(item.json, fields);
    known.set(item.json, key);
    return key;
  };
  return listByKeys(list, keyOf, see);
}

/** Returns the key of an item; undefined if it matches no item. */
type KeyOf = (item: Value) => string | undefined;

function listByKeys(list: ListValue, keyOf: KeyOf, see: (item: JsonObject) => Value): ListValue {
  const byKey = once(() => placesOf(items(list), keyOf));
  return {
    kind: 'list',
    ofResource: true,
    size: list.size,
    at: (index) => list.at(index),
    equals(other) {
      if (list.size !== other.size) return false;
      for (const item of items(other)) {
        const key = keyOf(item);
        const at = key === undefined ? undefined : byKey().get(key);
        const isSame = at !== undefined && compared(list.at(at), item, 'inside');
        if (isSame !== true) return isSame;
      }
      return true;
    },
    plus(other) {
      const own = items(list);
      const places = placesOf(own, keyOf);
      const replaced = [...own];
      const added: Value[] = [];
      for (const item of items(other)) {
        const key = keyOf(item);
        const at = key === undefined ? undefined : places.get(key);
        const seen = isJsonObject(item) ? see(item.json) : notMap;
        if (at === undefined) added.push(seen);
        else replaced[at] = seen;
      }
      return listByKeys(joined(replaced, added), keyOf, see);
    },
  };
}

const joined = (first: readonly Value[], second: readonly Value[]): ListValue => {
  const values = [...first, ...second];
  return { kind: 'list', size: values.length, at: (index) => values[index] ?? new Failure('no such item') };
};

function items(list: ListValue): readonly Value[] {
  spend(4 * list.size);
  return Array.from({ length: list.size }, (_, index) => list.at(index));
}

const isJsonObject = (value: Value): value is Value & { readonly json: JsonObject } =>
  isJsonBacked(value) && isObject(value.json);

export const notMap = new Failure('invalid data, expected a map for the provided schema with type=object');

function placesOf(list: readonly Value[], keyOf: KeyOf): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const [at, item] of list.entries()) {
    const key = keyOf(item);
    if (key !== undefined) places.set(key, at);
  }
  return places;
}

/** Returns the lookup key of a value; values of different types have different keys. */
function givenKey(value: Json | undefined): string {
  if (Array.isArray(value)) throw unhashable('[]interface {}');
  if (isObject(value)) throw unhashable('map[string]interface {}');
  if (Number.isInteger(value) && Math.abs(value as number) < 2 ** 63) return `bigint ${value}`;
  return `${typeof value} ${String(value)}`;
}

function seenKey(value: Value): string | undefined {
  if (value instanceof Uint8Array) throw unhashable('[]uint8');
  if (value instanceof Timestamp) return `time ${value.nanoseconds}`;
  if (value instanceof Duration) return `duration ${value.nanoseconds}`;
  if (value instanceof Uint) return `uint ${value.value}`;
  if (isJsonBacked(value)) return givenKey(value.json);
  if (value === null || value instanceof Failure) return undefined;
  if (typeof value !== 'object') return `${typeof value} ${String(value)}`;
  if (!('kind' in value)) return undefined;
  if (value.kind === 'list') throw unhashable('[]interface {}');
  if (value.kind === 'map') throw unhashable('map[string]interface {}');
  return undefined;
}

const unhashable = (type: string): EvaluationAborted =>
  new EvaluationAborted(`runtime error: hash of unhashable type ${type}`);

/**
 * Returns the key of an item. Up to three values are distinguished by type as well; more are joined to an ambiguous
 * text, as in Kubernetes.
 */
function itemKey(item: JsonObject, fields: readonly string[]): string {
  const values = fields.map((field) => member(item, field));
  return fields.length > 3 ? values.join(' ') : JSON.stringify(values.map(givenKey));
}
