import { isList, isObject, type Json } from '../api/object.js';
import { DeferredWork, pathRestorer, type Steps } from '../api/steps.js';
import { same } from '../schema/same.js';
import { type FieldSet, FieldSetBuilder, recursiveDifference } from './field-set.js';
import { wholeNode } from './field-set-of.js';
import { itemsByElement } from './list-items.js';
import { fieldElement, type PathElement } from './path-element.js';
import { type Form, formOf, type ListShape, type MapShape, maxShapeDepth, type Shape, shapeOfMember } from './shape.js';

type ItemsByElement = ReadonlyMap<PathElement, readonly Json[]>;

/** The fields that differ between two values. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/**
 * Compares two values of one shape field by field.
 *
 * @throws UnidentifiedItem for a list item without identity.
 */
export function* compare(shape: Shape, before: Json, after: Json): Steps<Comparison> {
  const added = new FieldSetBuilder();
  const modified = new FieldSetBuilder();
  const removed = new FieldSetBuilder();
  const path: PathElement[] = [];
  const postponed = new DeferredWork();
  const keepPlace = pathRestorer(path);

  function compareValues(at: Shape, left: Json, right: Json): void {
    if (left === right) return;
    if (path.length >= maxShapeDepth) {
      compareWhole(left, right);
      return;
    }
    const leftForm = formOf(at, left);
    const rightForm = formOf(at, right);
    // If the forms of the values differ, they are compared in both forms.
    compareAs(leftForm, at, left, right);
    if (leftForm !== rightForm) compareAs(rightForm, at, left, right);
  }

  function compareAs(form: Form, at: Shape, left: Json, right: Json): void {
    if (form === 'map' && at.map !== undefined) members(at.map, left, right);
    else if (form === 'list' && at.list !== undefined) items(at.list, left, right);
    else compareWhole(left, right);
  }

  function compareWhole(left: Json, right: Json): void {
    if (!same(left, right)) modified.add(path);
  }

  function members(map: MapShape, left: Json, right: Json): void {
    const l = isObject(left) ? left : {};
    const r = isObject(right) ? right : {};
    const names = Object.keys(l);
    const newNames = Object.keys(r);
    if (map.atomic || (names.length === 0 && newNames.length === 0)) {
      compareWhole(left, right);
      return;
    }
    const old = (at: number): void => {
      const name = names[at] ?? '';
      const element = fieldElement(name);
      const value = l[name] ?? null;
      if (!Object.hasOwn(r, name)) addSubtree(removed, element, shapeOfMember(map, name), value);
      else compareBelow(element, shapeOfMember(map, name), value, r[name] ?? null);
    };
    const now = (at: number): void => {
      const name = newNames[at] ?? '';
      if (Object.hasOwn(l, name)) return;
      addSubtree(added, fieldElement(name), shapeOfMember(map, name), r[name] ?? null);
    };
    postponed.each(names.length, old, keepPlace);
    postponed.each(newNames.length, now, keepPlace);
  }

  function items(list: ListShape, left: Json, right: Json): void {
    const l = isList(left) ? left : [];
    const r = isList(right) ? right : [];
    if (list.type === 'atomic' || (l.length === 0 && r.length === 0)) {
      compareWhole(left, right);
      return;
    }
    const compareItems = (old: ItemsByElement, now: ItemsByElement): void => {
      const elements = [...old.keys(), ...[...now.keys()].filter((element) => !old.has(element))];
      const compareItem = (at: number): void => {
        const element = elements[at] ?? '';
        item(list, element, old.get(element) ?? [], now.get(element) ?? []);
      };
      postponed.each(elements.length, compareItem, keepPlace);
    };
    const withOld = (old: ItemsByElement): void =>
      itemsByElement(list, r, postponed, (now) => compareItems(old, now), { keepPlace });
    itemsByElement(list, l, postponed, withOld, { keepPlace });
  }

  /**
   * Compares the items with one identity. Duplicates count as one value; an item that becomes a duplicate, or ceases to
   * be one, counts as modified.
   */
  function item(list: ListShape, element: PathElement, before: readonly Json[], after: readonly Json[]): void {
    const [was] = before;
    const [is] = after;
    if (before.length > 1 && after.length > 1) {
      if (!same(before, after)) modified.add([...path, element]);
      return;
    }
    if (before.length > 1) {
      if (is !== undefined) addSubtree(added, element, list.items, is);
      removed.add([...path, element]);
      return;
    }
    if (after.length > 1) {
      if (was !== undefined) addSubtree(removed, element, list.items, was);
      added.add([...path, element]);
      return;
    }
    if (was === undefined && is !== undefined) addSubtree(added, element, list.items, is);
    else if (was !== undefined && is === undefined) addSubtree(removed, element, list.items, was);
    else if (was !== undefined && is !== undefined) compareBelow(element, list.items, was, is);
  }

  /** Adds a value with everything in it. Branches never overlap, so that their contents can be added later. */
  function addSubtree(set: FieldSetBuilder, element: PathElement, inner: Shape, value: Json): void {
    set.graft(path, element, wholeNode(inner, value, postponed, path.length));
  }

  function compareBelow(element: PathElement, inner: Shape, left: Json, right: Json): void {
    path.push(element);
    compareValues(inner, left, right);
    path.pop();
  }

  compareValues(shape, before, after);
  yield* postponed.rest();
  return { added: added.set(), modified: modified.set(), removed: removed.set() };
}

/** Returns the comparison without these fields and everything below them. */
export const without = ({ added, modified, removed }: Comparison, fields: FieldSet): Comparison => ({
  added: recursiveDifference(added, fields),
  modified: recursiveDifference(modified, fields),
  removed: recursiveDifference(removed, fields),
});
