import type { Json } from '../api/object.js';
import { StepCount, type Steps } from '../api/steps.js';
import { same } from '../schema/same.js';
import { type FieldSet, FieldSetBuilder, recursiveDifference } from './field-set.js';
import { wholeNode } from './field-set-of.js';
import { isList, isObject } from './json-value.js';
import { itemsByElement } from './list-items.js';
import { fieldElement, type PathElement } from './path-element.js';
import {
  deepest,
  exactForm,
  type Form,
  formOf,
  type ListShape,
  type MapShape,
  type Shape,
  shapeOfMember,
} from './shape.js';

/** What became of each field between two values. */
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
  const passed = new StepCount();

  /** Compares scalars at once, and answers how to go on with what has others inside. */
  function both(at: Shape, left: Json, right: Json): Steps<void> | undefined {
    if (left === right) return undefined;
    if (path.length >= deepest) return whole(left, right);
    const leftForm = formOf(at, left);
    const rightForm = formOf(at, right);
    // A null, or a value of no form, stands for all forms; next to one of a certain form it counts as different.
    const alike = leftForm === rightForm && (isCertain(at, left) === isCertain(at, right) || isSingle(at));
    if (alike || leftForm === rightForm) return as(rightForm, at, left, right);
    return inTwoForms(as(leftForm, at, left, right), as(rightForm, at, left, right));
  }

  function* inTwoForms(one: Steps<void> | undefined, other: Steps<void> | undefined): Steps<void> {
    if (one !== undefined) yield* one;
    if (other !== undefined) yield* other;
  }

  function as(form: Form, at: Shape, left: Json, right: Json): Steps<void> | undefined {
    if (form === 'map' && at.map !== undefined) return members(at.map, left, right);
    if (form === 'list' && at.list !== undefined) return items(at.list, left, right);
    return whole(left, right);
  }

  function whole(left: Json, right: Json): undefined {
    if (!same(left, right)) modified.add(path);
  }

  function* members(map: MapShape, left: Json, right: Json): Steps<void> {
    const l = isObject(left) ? left : {};
    const r = isObject(right) ? right : {};
    const names = Object.keys(l);
    const newNames = Object.keys(r);
    if (map.atomic || (names.length === 0 && newNames.length === 0)) {
      whole(left, right);
      return;
    }
    for (const name of names) {
      if (passed.endsStep()) yield;
      const element = fieldElement(name);
      const value = l[name] ?? null;
      if (!Object.hasOwn(r, name)) {
        removed.graft(path, element, wholeNode(shapeOfMember(map, name), value, path.length));
        continue;
      }
      path.push(element);
      const deeper = both(shapeOfMember(map, name), value, r[name] ?? null);
      if (deeper !== undefined) yield* deeper;
      path.pop();
    }
    for (const name of newNames) {
      if (Object.hasOwn(l, name)) continue;
      if (passed.endsStep()) yield;
      added.graft(path, fieldElement(name), wholeNode(shapeOfMember(map, name), r[name] ?? null, path.length));
    }
  }

  function* items(list: ListShape, left: Json, right: Json): Steps<void> {
    const l = isList(left) ? left : [];
    const r = isList(right) ? right : [];
    if (list.type === 'atomic' || (l.length === 0 && r.length === 0)) {
      whole(left, right);
      return;
    }
    const old = itemsByElement(list, l);
    const now = itemsByElement(list, r);
    for (const [element, before] of old) {
      if (passed.endsStep()) yield;
      yield* item(list, element, before, now.get(element) ?? []);
    }
    for (const [element, after] of now) {
      if (old.has(element)) continue;
      if (passed.endsStep()) yield;
      yield* item(list, element, [], after);
    }
  }

  /** Repeated items count as one value; turning into one, or ceasing to be one, replaces what was there. */
  function* item(list: ListShape, element: PathElement, before: readonly Json[], after: readonly Json[]): Steps<void> {
    const [was] = before;
    const [is] = after;
    if (before.length > 1 && after.length > 1) {
      if (!same(before, after)) modified.add([...path, element]);
      return;
    }
    if (before.length > 1) {
      if (is !== undefined) added.graft(path, element, wholeNode(list.items, is, path.length));
      removed.add([...path, element]);
      return;
    }
    if (after.length > 1) {
      if (was !== undefined) removed.graft(path, element, wholeNode(list.items, was, path.length));
      added.add([...path, element]);
      return;
    }
    if (was === undefined && is !== undefined) added.graft(path, element, wholeNode(list.items, is, path.length));
    else if (was !== undefined && is === undefined)
      removed.graft(path, element, wholeNode(list.items, was, path.length));
    else if (was !== undefined && is !== undefined) {
      path.push(element);
      const deeper = both(list.items, was, is);
      if (deeper !== undefined) yield* deeper;
      path.pop();
    }
  }

  const all = both(shape, before, after);
  if (all !== undefined) yield* all;
  return { added: added.set(), modified: modified.set(), removed: removed.set() };
}

const isCertain = (shape: Shape, value: Json): boolean => exactForm(shape, value) !== undefined;
const isSingle = ({ scalar, list, map }: Shape): boolean =>
  Number(scalar !== undefined) + Number(list !== undefined) + Number(map !== undefined) === 1;

/** The comparison without these fields and everything below them. */
export const without = ({ added, modified, removed }: Comparison, fields: FieldSet): Comparison => ({
  added: recursiveDifference(added, fields),
  modified: recursiveDifference(modified, fields),
  removed: recursiveDifference(removed, fields),
});
