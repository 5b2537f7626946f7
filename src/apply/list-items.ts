import { isNonJson } from '../api/go-print.js';
import { quoteList } from '../api/go-text.js';
import { isList, isObject, type Json, member } from '../api/object.js';
import type { DeferredWork } from '../api/steps.js';
import { keyElement, type PathElement, valueElement } from './path-element.js';
import type { ListShape } from './shape.js';

/** Thrown for a list item without identity. The message is that of Kubernetes, without the path. */
export class UnidentifiedItem extends Error {
  override readonly name = 'UnidentifiedItem';
}

/**
 * Returns the path element of an item in a set or map list.
 *
 * @throws UnidentifiedItem for an item without keys, or of a type without identity
 */
export function pathElementOf(list: ListShape, item: Json): PathElement {
  const element = findPathElement(list, item);
  if (element !== undefined) return element;
  throw new UnidentifiedItem(list.type === 'map' ? unkeyedReason(list, item) : whyNoValue(item));
}

/** Like `pathElementOf`, but undefined for an item without identity. */
export const findPathElement = (list: ListShape, item: Json): PathElement | undefined =>
  list.type === 'map' ? keyed(list, item) : isScalar(item) ? valueElement(item) : undefined;

function keyed(list: ListShape, item: Json): PathElement | undefined {
  if (!isObject(item) || isNonJson(item)) return undefined;
  const keys: (readonly [string, Json])[] = [];
  for (const key of list.keys) {
    const value = member(item, key) ?? (Object.hasOwn(item, key) ? null : list.keyDefaults.get(key));
    if (value !== undefined) keys.push([key, value]);
  }
  return keys.length > 0 || list.keys.length === 0 ? keyElement(keys) : undefined;
}

const isScalar = (item: Json): boolean => item !== null && !isList(item) && !isObject(item);

function unkeyedReason(list: ListShape, item: Json): string {
  if (item === null) return 'associative list with keys may not have a null element';
  if (!isObject(item) || isNonJson(item)) return 'associative list with keys may not have non-map elements';
  return `associative list with keys has an element that omits all key fields ${quoteList(list.keys)} (and doesn't have default values for any key fields)`;
}

function whyNoValue(item: Json): string {
  if (item === null) return "associative list without keys has an element that's an explicit null";
  if (isList(item)) return 'not supported: associative list with lists as elements';
  return "associative list without keys has an element that's a map type";
}

/**
 * Groups the items by their path elements, in the order of first appearance, and calls `onItems` with the result. `name`
 * returns the path element of an item; items for which it returns undefined are left out.
 */
export function itemsByElement(
  list: ListShape,
  items: readonly Json[],
  later: DeferredWork,
  onItems: (found: ReadonlyMap<PathElement, readonly Json[]>) => void,
  {
    name = pathElementOf,
    keepPlace,
  }: { readonly name?: typeof findPathElement; readonly keepPlace?: () => () => void } = {},
): void {
  const found = new Map<PathElement, Json[]>();
  const add = (at: number): void => {
    const item = items[at] ?? null;
    const element = name(list, item);
    if (element === undefined) return;
    const same = found.get(element);
    if (same === undefined) found.set(element, [item]);
    else same.push(item);
  };
  later.each(items.length, add, keepPlace, () => onItems(found));
}
