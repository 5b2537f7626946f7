import { isObject, type Json, member } from '../../api/object.js';

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

/**
 * Puts a merged list in order: items named in `order` as they stand there, others as they stand in the live list, and
 * one of the former goes behind one of the latter only if it already did.
 */
export function sortInto(
  items: readonly Json[],
  given: { readonly order: readonly Json[]; readonly live: readonly Json[]; readonly key: string | undefined },
): readonly Json[] {
  const wanted = ordered(given.order, given.key);
  const live = ordered(given.live, given.key);
  const placeIn = (places: ReadonlyMap<Json | undefined, number>, item: Json): number =>
    places.get(identityOf(item, given.key)) ?? -1;
  const byPlace =
    (places: ReadonlyMap<Json | undefined, number>) =>
    (a: Json, b: Json): number => {
      const left = placeIn(places, a);
      const right = placeIn(places, b);
      return left < 0 || right < 0 ? 0 : left - right;
    };
  const named = items.filter((item) => placeIn(wanted, item) >= 0).sort(byPlace(wanted));
  const others = items.filter((item) => placeIn(wanted, item) < 0).sort(byPlace(live));

  const out: Json[] = [];
  let n = 0;
  for (const other of others) {
    const place = placeIn(live, other);
    while (n < named.length) {
      const next = named[n] ?? null;
      const nextPlace = placeIn(live, next);
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
