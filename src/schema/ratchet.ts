import { goJson } from '../api/go-text.js';
import { keysOf } from './list-types.js';
import { same } from './same.js';
import type { Schema } from './schema.js';

/**
 * Ratcheting (KEP-4008): what was already stored is not held against an update that leaves it alone. A value is
 * compared with the stored one at the same place: the same member, the item with the same keys in a map list, the
 * item at the same place in a list without a type. Items of set and atomic lists have no counterpart.
 */

/** Stands where the stored object has no counterpart. */
export const absent: unique symbol = Symbol('absent');
/** The stored value at a place, or `absent`. */
export type Old = unknown;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The stored counterpart of a member. */
export const oldMember = (old: Old, name: string): Old =>
  isObject(old) && Object.hasOwn(old, name) ? old[name] : absent;

/** Finds the stored counterparts of the items of one list. */
export function oldItems(old: Old, schema: Schema): (item: unknown, at: number) => Old {
  if (!Array.isArray(old) || schema.listType === 'set' || schema.listType === 'atomic') return () => absent;
  const present = (value: unknown): Old => (value === undefined || value === null ? absent : value);
  if (schema.listType !== 'map') return (_, at) => present(old[at]);
  const keys = schema.listMapKeys ?? [];
  const byKeys = new Map<string, unknown>();
  for (const item of old) {
    const key = keyText(item, keys);
    if (!byKeys.has(key)) byKeys.set(key, item);
  }
  return (item) => present(byKeys.get(keyText(item, keys)));
}

const keyText = (item: unknown, keys: readonly string[]): string => goJson(Object.entries(keysOf(item, keys)));

/** Is the value what was stored? */
export const unchanged = (value: unknown, old: Old): boolean => old !== absent && same(value, old);
