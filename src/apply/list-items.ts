import { quoteList } from '../api/go-text.js';
import { isList, isObject, type Json, member } from '../api/object.js';
import type { Postponed } from '../api/steps.js';
import { keyElement, type PathElement, valueElement } from './path-element.js';
import type { ListShape } from './shape.js';

/** An item that cannot be told apart from others; the message is Kubernetes' own, without path. */
export class UnidentifiedItem extends Error {
  override readonly name = 'UnidentifiedItem';
}

/**
 * How an item of a set or map list is called in field paths.
 *
 * @throws UnidentifiedItem when it has no keys, or is not of a kind that has an identity.
 */
export function elementOf(list: ListShape, item: Json): PathElement {
  return list.type === 'map' ? keyed(list, item) : valued(item);
}

function keyed(list: ListShape, item: Json): PathElement {
  if (item === null) throw new UnidentifiedItem('associative list with keys may not have a null element');
  if (!isObject(item)) throw new UnidentifiedItem('associative list with keys may not have non-map elements');
  const keys: (readonly [string, Json])[] = [];
  for (const key of list.keys) {
    const value = member(item, key) ?? (Object.hasOwn(item, key) ? null : list.keyDefaults.get(key));
    if (value !== undefined) keys.push([key, value]);
  }
  if (keys.length > 0 || list.keys.length === 0) return keyElement(keys);
  throw new UnidentifiedItem(
    `associative list with keys has an element that omits all key fields ${quoteList(list.keys)} (and doesn't have default values for any key fields)`,
  );
}

function valued(item: Json): PathElement {
  if (item === null) {
    throw new UnidentifiedItem("associative list without keys has an element that's an explicit null");
  }
  if (isList(item)) throw new UnidentifiedItem('not supported: associative list with lists as elements');
  if (isObject(item)) {
    throw new UnidentifiedItem("associative list without keys has an element that's a map type");
  }
  return valueElement(item);
}

/** Tells `then` the items by their element, in order of first appearance; repeated ones together. */
export function itemsByElement(
  list: ListShape,
  items: readonly Json[],
  later: Postponed,
  then: (found: ReadonlyMap<PathElement, readonly Json[]>) => void,
  keepPlace?: () => () => void,
): void {
  const found = new Map<PathElement, Json[]>();
  const add = (at: number): void => {
    const item = items[at] ?? null;
    const element = elementOf(list, item);
    const same = found.get(element);
    if (same === undefined) found.set(element, [item]);
    else same.push(item);
  };
  later.each(items.length, add, keepPlace, () => then(found));
}
