import { isList, isObject, type Json, type JsonObject } from '../api/object.js';
import { sortTexts } from '../api/text-order.js';
import { fieldElement, indexElement, type PathElement, printPath } from './path-element.js';
import { formOf, type Shape } from './shape.js';

/**
 * Returns the paths of atomic lists, maps and structs in a value, such as `.spec.nodeSelector`. Members that the shape
 * does not name are not searched, as in Kubernetes.
 */
export function atomicPaths(shape: Shape, value: JsonObject): readonly string[] {
  const found: string[] = [];
  const path: PathElement[] = [];
  const below = (element: PathElement, inner: Shape, item: Json): void => {
    path.push(element);
    visit(inner, item);
    path.pop();
  };
  const visit = (at: Shape, item: Json): void => {
    const form = formOf(at, item);
    if (form === 'map' && at.map !== undefined && isObject(item)) {
      if (at.map.atomic) found.push(printPath(path));
      for (const name of sortTexts(Object.keys(item))) {
        const inner = at.map.fields.get(name);
        if (inner !== undefined) below(fieldElement(name), inner, item[name] ?? null);
      }
    } else if (form === 'list' && at.list !== undefined && isList(item)) {
      const { type, items } = at.list;
      if (type === 'atomic') found.push(printPath(path));
      for (const [index, entry] of item.entries()) below(indexElement(index), items, entry);
    }
  };
  visit(shape, value);
  return found;
}
