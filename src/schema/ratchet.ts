import { goJson } from '../api/go-text.js';
import { isObject } from '../api/object.js';
import { same } from './same.js';
import type { Schema } from './schema.js';

/**
 * Ratcheting (KEP-4008): an update may keep invalid values that are already stored. A value is compared with the stored
 * one at the same place: the same member of a known name, or the item with the same keys in a map list. Items of other
 * lists have no counterpart.
 */

/** The value that means that the stored object has no counterpart. */
export const noOldValue: unique symbol = Symbol('absent');
/** The stored value at a path, or `noOldValue`. */
export type OldValue = unknown;

/** Returns the stored counterpart of a member. */
export const oldMember = (old: OldValue, name: string): OldValue =>
  isObject(old) && Object.hasOwn(old, name) ? old[name] : noOldValue;

/** Returns a function that finds the stored counterparts of the items of one list. */
export function oldItems(old: OldValue, { listType, listMapKeys = [] }: Schema): (item: unknown) => OldValue {
  if (!Array.isArray(old) || listType !== 'map') return () => noOldValue;
  const byKeys = new Map<string, unknown>();
  for (const item of old) {
    const key = keyText(item, listMapKeys);
    if (key !== undefined && !byKeys.has(key)) byKeys.set(key, item);
  }
  return (item) => {
    const key = keyText(item, listMapKeys);
    return key !== undefined && byKeys.has(key) ? byKeys.get(key) : noOldValue;
  };
}

/** Returns a text that identifies an item by its keys; undefined if it lacks one of them. */
function keyText(item: unknown, keys: readonly string[]): string | undefined {
  if (!isObject(item)) return undefined;
  const values: unknown[] = [];
  for (const key of keys) {
    const value = Object.hasOwn(item, key) ? item[key] : null;
    if (typeof value === 'object') return undefined;
    values.push(value);
  }
  return goJson(values);
}

/** Compares values with stored ones, reusing comparisons of nested values. */
export class Ratchet {
  readonly #known = new Map<object, { readonly old: OldValue; readonly schema: Schema; readonly answer: boolean }>();

  /**
   * Whether the value equals the stored one. A value without a counterpart does not, nor do its parts. Atomic lists are
   * compared as a whole.
   */
  unchanged(value: unknown, old: OldValue, schema: Schema): boolean {
    if (old === noOldValue) return false;
    if (typeof value !== 'object' || value === null) return same(value, old);
    const known = this.#known.get(value);
    if (known !== undefined && known.old === old && known.schema === schema) return known.answer;
    const answer = this.#compare(value, old, schema);
    this.#known.set(value, { old, schema, answer });
    return answer;
  }

  #compare(value: object, old: unknown, schema: Schema): boolean {
    const { items, properties, additionalProperties, listType } = schema;
    if (Array.isArray(value) && Array.isArray(old) && items !== undefined && listType === 'map') {
      const oldItem = oldItems(old, schema);
      return value.length === old.length && value.every((item) => this.unchanged(item, oldItem(item), items));
    }
    if (!isObject(value) || !isObject(old)) return same(value, old);
    const names = Object.keys(value);
    if (names.length !== Object.keys(old).length) return false;
    return names.every((name) => {
      const inner = properties?.get(name) ?? additionalProperties;
      return typeof inner === 'object' && this.unchanged(value[name], oldMember(old, name), inner);
    });
  }
}
