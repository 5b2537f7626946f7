import { untyped } from '../../api/errors.js';
import { goValue } from '../../api/go-print.js';
import { isObject, type Json, member } from '../../api/object.js';
import { wrongType } from './kinds.js';

/** Order in lists that a strategic merge patch merges. */

/** Place of each item by its identity: the value of its key, or the item itself. The first of several counts. */
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

/** What tells an item apart: the item itself, or the value of its merge key. */
export function identity(item: Json, key: string): Json {
  if (key === '') return item;
  if (!isObject(item)) throw wrongType('map[string]interface {}', item);
  const value = member(item, key);
  if (value !== undefined) return value;
  throw untyped(`map: ${goValue(item)} does not contain declared merge key: ${key}`);
}

/**
 * Puts a merged list in order: items named in `order` as they stand there, others as they stand in the live list, and
 * one of the former goes behind one of the latter only if it already did. Where items have a key, all of them must.
 */
export function sortInto(
  items: readonly Json[],
  given: { readonly order: readonly Json[]; readonly live: readonly Json[]; readonly key: string | undefined },
): readonly Json[] {
  const { order, live, key } = given;
  if (key !== undefined) for (const list of [items, order, live]) for (const item of list) identity(item, key);
  const wanted = ordered(order, key);
  const before = ordered(live, key);
  const placeIn = (places: ReadonlyMap<Json | undefined, number>, item: Json): number =>
    places.get(identityOf(item, key)) ?? -1;
  const byPlace =
    (places: ReadonlyMap<Json | undefined, number>) =>
    (a: Json, b: Json): number => {
      const left = placeIn(places, a);
      const right = placeIn(places, b);
      return left < 0 || right < 0 ? 0 : left - right;
    };
  const named = items.filter((item) => placeIn(wanted, item) >= 0).sort(byPlace(wanted));
  const others = items.filter((item) => placeIn(wanted, item) < 0).sort(byPlace(before));

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

/** Each value once. */
export const dedupe = (items: readonly Json[]): readonly Json[] => [...new Set(items)];
