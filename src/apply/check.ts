import { Complaints } from '../api/complaints.js';
import { goSyntax, goTypeName, goValue, isNonJson } from '../api/go-print.js';
import { goNumber } from '../api/go-text.js';
import { isList, isObject, type Json } from '../api/object.js';
import { DeferredWork, pathRestorer, type Steps } from '../api/steps.js';
import { sortTexts } from '../api/text-order.js';
import { pathElementOf, UnidentifiedItem } from './list-items.js';
import { fieldElement, indexElement, type PathElement, printPath } from './path-element.js';
import { formOf, type ListShape, type MapShape, maxShapeDepth, type ScalarKind, type Shape } from './shape.js';

/**
 * Returns the reasons why a value does not have this shape, in the words of Kubernetes, each with its path (`.spec.x:
 * ...`); empty if it does. With `duplicates`, items may have equal keys, as in stored objects.
 */
export function* checkShape(
  shape: Shape,
  value: Json,
  options: { readonly duplicates?: boolean } = {},
): Steps<readonly string[]> {
  // A hostile body can have an error in every field.
  const errors = new Complaints({ most: Infinity, repeats: true });
  const path: PathElement[] = [];
  const later = new DeferredWork();
  const keepPlace = pathRestorer(path);
  const report = (text: string): void => {
    errors.add(() => (path.length === 0 ? text : `${printPath(path, goNumber)}: ${text}`));
  };
  const below = (element: PathElement, inner: Shape, item: Json): void => {
    path.push(element);
    check(inner, item);
    path.pop();
  };

  function check(at: Shape, item: Json): void {
    if (path.length > maxShapeDepth || errors.isFull) return;
    const form = formOf(at, isNonJson(item) ? null : item);
    if (form === 'map' && at.map !== undefined) checkMap(at.map, item);
    else if (form === 'list' && at.list !== undefined) checkList(at.list, item);
    else if (at.scalar !== undefined) checkScalar(at.scalar, item, report);
  }

  function checkMap(map: MapShape, item: Json): void {
    if (item === null) return;
    if (!isObject(item) || isNonJson(item)) {
      report(`expected map, got &{${goValue(item)}}`);
      return;
    }
    const names = sortTexts(Object.keys(item));
    let isOver = false;
    const checkMember = (at: number): void => {
      const name = names[at] ?? '';
      const inner = map.fields.get(name) ?? map.others;
      if (isOver) return;
      if (inner !== undefined) {
        below(fieldElement(name), inner, item[name] ?? null);
        return;
      }
      path.push(fieldElement(name));
      report('field not declared in schema');
      path.pop();
      isOver = true;
    };
    later.each(names.length, checkMember, keepPlace);
  }

  function checkList(list: ListShape, item: Json): void {
    if (item === null) return;
    if (!isList(item)) {
      report(`expected list, got &{${goValue(item)}}`);
      return;
    }
    const seen = new Set<PathElement>();
    let isOver = false;
    const checkItem = (index: number): void => {
      const entry = item[index] ?? null;
      if (list.type === 'atomic' || (list.type === 'set' && isNonJson(entry))) {
        below(indexElement(index), list.items, entry);
        return;
      }
      const element = isOver ? undefined : identify(list, entry, index);
      isOver = element === undefined;
      if (element === undefined) return;
      if (seen.has(element) && !options.duplicates)
        report(`duplicate entries for key ${printPath([element], goNumber)}`);
      seen.add(element);
      below(element, list.items, entry);
    };
    later.each(item.length, checkItem, keepPlace);
  }

  function identify(list: ListShape, entry: Json, index: number): PathElement | undefined {
    try {
      return pathElementOf(list, entry);
    } catch (error) {
      if (!(error instanceof UnidentifiedItem)) throw error;
      report(`element ${index}: ${error.message}`);
      return undefined;
    }
  }

  check(shape, value);
  yield* later.rest();
  return errors.texts;
}

function checkScalar(kind: ScalarKind, value: Json, report: (text: string) => void): void {
  if (value === null) return;
  if (kind === 'numeric' && typeof value !== 'number' && typeof value !== 'bigint') {
    report(`expected numeric (int or float), got ${goTypeName(value)}`);
  } else if (kind === 'string' && typeof value !== 'string') {
    report(`expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`);
  } else if (kind === 'boolean' && typeof value !== 'boolean') {
    report(`expected boolean, got &{${goValue(value)}}`);
  } else if (kind === 'untyped' && typeof value === 'object') {
    report(`expected any scalar, got &{${goValue(value)}}`);
  }
}

/** Joins errors as Kubernetes does. */
export const joinErrors = (errors: readonly string[]): string =>
  errors.length === 1 ? (errors[0] ?? '') : ['errors:', ...errors.map((error) => `  ${error}`)].join('\n');
