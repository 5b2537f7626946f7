import { type ApiObject, keyOf, keyText } from '../api/object.js';
import type { ObjectCache } from './object-cache.js';

/** Finds objects of a cache by something other than their key. */
export interface ObjectIndex<T extends ApiObject> {
  /** Returns the objects with this value, in no particular order. */
  get(value: string): readonly T[];
}

/**
 * Returns an index of a cache, which is updated until the cache stops. `valuesOf` is called once for every state of an
 * object; an object for which it throws has no values.
 */
export function indexBy<T extends ApiObject>(
  cache: Pick<ObjectCache<T>, 'changes'>,
  valuesOf: (object: T) => readonly string[],
): ObjectIndex<T> {
  const byValue = new Map<string, Map<string, T>>();
  const known = new Map<string, readonly string[]>();
  const forget = (key: string): void => {
    for (const value of known.get(key) ?? []) {
      const having = byValue.get(value);
      having?.delete(key);
      if (having?.size === 0) byValue.delete(value);
    }
    known.delete(key);
  };
  cache.changes.subscribe(({ type, object }) => {
    const key = keyText(keyOf(object));
    forget(key);
    if (type === 'deleted') return;
    const values = [...new Set(valuesOrNone(object, valuesOf))];
    if (values.length > 0) known.set(key, values);
    for (const value of values) {
      const having = byValue.get(value) ?? new Map<string, T>();
      byValue.set(value, having.set(key, object));
    }
  });
  return { get: (value) => [...(byValue.get(value)?.values() ?? [])] };
}

function valuesOrNone<T>(object: T, valuesOf: (object: T) => readonly string[]): readonly string[] {
  try {
    return valuesOf(object);
  } catch {
    return [];
  }
}
