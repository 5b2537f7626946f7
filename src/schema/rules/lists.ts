import { once } from '../../api/once.js';
import { spend } from '../../cel/effort.js';
import { compared } from '../../cel/equality.js';
import { Failure, type ListValue, type Value } from '../../cel/values.js';
import { escapeField } from './field-names.js';

/** Lists of custom resources as expressions see them (KEP-2876): sets and keyed lists compare and add in their own way. */

/** A list in which order means nothing; adding appends what is not there yet. Items are scalars. */
export function setList(list: ListValue): ListValue {
  const keys = once(() => new Set(items(list).map(scalarKey)));
  return {
    kind: 'list',
    ofResource: true,
    size: list.size,
    at: (index) => list.at(index),
    equals: (other) => list.size === other.size && items(other).every((item) => keys().has(scalarKey(item))),
    plus(other) {
      const seen = new Set(keys());
      const added = items(other).filter((item) => {
        const key = scalarKey(item);
        if (seen.has(key)) return false;
        seen.add(key);
        return true;
      });
      return setList(joined(items(list), added));
    },
  };
}

/**
 * A list of objects that are known by some of their fields; adding replaces an item by the one of the same keys. Of items
 * that are given twice, as they must not be, the last is found, and the others stay, as in Kubernetes.
 */
export function keyedList(list: ListValue, keyFields: readonly string[]): ListValue {
  const fields = keyFields.map((field) => escapeField(field) ?? field);
  // Lists that are made of this one have the same items.
  const known = new WeakMap<object, string>();
  const keyOf: KeyOf = (item) => {
    if (item === null || typeof item !== 'object') return '';
    const before = known.get(item);
    if (before !== undefined) return before;
    const key = itemKey(item, fields);
    known.set(item, key);
    return key;
  };
  return listByKeys(list, keyOf);
}

type KeyOf = (item: Value) => string;

function listByKeys(list: ListValue, keyOf: KeyOf): ListValue {
  const byKey = once(() => new Map(items(list).map((item) => [keyOf(item), item])));
  return {
    kind: 'list',
    ofResource: true,
    size: list.size,
    at: (index) => list.at(index),
    equals(other) {
      if (list.size !== other.size) return false;
      for (const theirs of items(other)) {
        const ours = byKey().get(keyOf(theirs));
        const isSame = ours !== undefined && compared(ours, theirs, 'inside');
        if (!isSame) return isSame;
      }
      return true;
    },
    plus(other) {
      const own = items(list);
      const places = new Map(own.map((item, at) => [keyOf(item), at]));
      const replaced = [...own];
      const added: Value[] = [];
      for (const item of items(other)) {
        const at = places.get(keyOf(item));
        if (at === undefined) added.push(item);
        else replaced[at] = item;
      }
      return listByKeys(joined(replaced, added), keyOf);
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

/** Values of different types have different keys. */
function scalarKey(value: Value): string {
  if (value !== null && typeof value === 'object' && 'nanoseconds' in value) return `time ${value.nanoseconds}`;
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('base64')}`;
  return `${typeof value} ${String(value)}`;
}

function itemKey(item: Value & object, fields: readonly string[]): string {
  if (!('kind' in item) || item.kind !== 'map') return '';
  return JSON.stringify(
    fields.map((field) => {
      const value = item.get(field);
      return value === undefined ? null : scalarKey(value);
    }),
  );
}
