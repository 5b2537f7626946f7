import { untyped } from '../../api/errors.js';
import { goValue } from '../../api/go-print.js';
import { isObject, type Json, member } from '../../api/object.js';
import { wrongType } from './go-kinds.js';

/** Determines the order of lists that a strategic merge patch merges. */

/**
 * Returns the position of each item by its identity: the value of its key, or the item itself. Of equal identities, the
 * first one counts.
 */
export function ordered(items: readonly Json[], key: string | undefined): Map<Json | undefined, number> {
  const places = new Map<Json | undefined, number>();
  for (const [place, item] of items.entries()) {
    const identity = identityOf(item, key);
    if (!places.has(identity)) places.set(identity, place);
  }
  return places;
}

const identityOf = (item: Json, key: string | undefined): Json | undefined =>
  key === undefined ? item : isObject(item) ? member(item, key) : undefined;

/** Returns the identity of an item: the item itself, or the value of its merge key. */
export const identity = (item: Json, key: string): Json => (key === '' ? item : keyOf(item, key));

/** Returns the value of an item's merge key. Throws if it has none. */
function keyOf(item: Json, key: string): Json {
  if (!isObject(item)) throw wrongType('map[string]interface {}', item);
  const value = member(item, key);
  if (value !== undefined) return value;
  throw untyped(`map: ${goValue(item)} does not contain declared merge key: ${key}`);
}

/**
 * Sorts a merged list: items that `order` names are in that order, others in the order of the live list, and a named
 * item follows an unnamed one only if it did so before. If items have a key, all must have it.
 */
export function sortMergedList(
  items: readonly Json[],
  options: { readonly order: readonly Json[]; readonly live: readonly Json[]; readonly key: string | undefined },
): readonly Json[] {
  const { order, live, key } = options;
  if (key !== undefined) for (const list of [items, order, live]) for (const item of list) keyOf(item, key);
  const patchOrder = ordered(order, key);
  const before = ordered(live, key);
  const placeIn = (places: ReadonlyMap<Json | undefined, number>, item: Json): number =>
    places.get(identityOf(item, key)) ?? -1;
  const isNamed = (item: Json): boolean => placeIn(patchOrder, item) >= 0;
  const named = items.filter(isNamed).sort((a, b) => placeIn(patchOrder, a) - placeIn(patchOrder, b));
  const unnamed = items.filter((item) => !isNamed(item));
  const others = sorted(unnamed, (item) => placeIn(before, item));

  const out: Json[] = [];
  let n = 0;
  for (const other of others) {
    const place = placeIn(before, other);
    while (n < named.length) {
      const next = named[n] ?? null;
      const nextPlace = placeIn(before, next);
      if (place >= 0 && nextPlace >= 0 && place < nextPlace) break;
      out.push(next);
      n++;
    }
    out.push(other);
  }
  return [...out, ...named.slice(n)];
}

/**
 * Sorts as Go does. The comparison of Kubernetes considers an item without a position both less and greater than all
 * others. Go sorts up to twenty items by insertion, which moves such an item to the front, before earlier ones.
 */
function sorted(items: readonly Json[], placeOf: (item: Json) => number): readonly Json[] {
  if (items.length > 20) {
    const byPlace = (a: number, b: number): number => (a < 0 || b < 0 ? 0 : a - b);
    return items.toSorted((a, b) => byPlace(placeOf(a), placeOf(b)));
  }
  const out: Json[] = [];
  for (const item of items) {
    const place = placeOf(item);
    const isBefore = (other: Json): boolean => place >= 0 && placeOf(other) >= 0 && placeOf(other) <= place;
    out.splice(out.findLastIndex(isBefore) + 1, 0, item);
  }
  return out;
}

/** Returns each value once. */
export const dedupe = (items: readonly Json[]): readonly Json[] => [...new Set(items)];
