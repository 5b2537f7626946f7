import { isList, isObject, type Json, setMember } from '../api/object.js';
import type { FieldSet } from './field-set.js';
import { findPathElement } from './list-items.js';
import { fieldElement } from './path-element.js';
import { formOf, maxShapeDepth, type Shape, shapeOfMember } from './shape.js';

/**
 * Returns the value without the fields of a set. A container without any parts left stays as an empty one, and so does
 * an atomic value of which a part was to be removed. List items without identity are kept.
 */
export function remove(shape: Shape, value: Json, fields: FieldSet, depth = 0): Json {
  if (fields.size === 0 || depth >= maxShapeDepth) return value;
  const form = formOf(shape, value);
  if (form === 'scalar') return value;
  if (form === 'list') {
    const { list } = shape;
    if (list === undefined || !isList(value) || list.type === 'atomic') return emptied(value);
    const remaining: Json[] = [];
    for (const item of value) {
      const element = findPathElement(list, item);
      const node = element === undefined ? undefined : fields.get(element);
      if (node?.owned) continue;
      remaining.push(node === undefined ? item : remove(list.items, item, node.below, depth + 1));
    }
    return remaining;
  }
  const { map } = shape;
  if (map === undefined || !isObject(value) || map.atomic) return emptied(value);
  const remaining: Record<string, Json> = {};
  for (const name of Object.keys(value)) {
    const node = fields.get(fieldElement(name));
    if (node?.owned) continue;
    const item = value[name] ?? null;
    setMember(
      remaining,
      name,
      node === undefined ? item : remove(shapeOfMember(map, name), item, node.below, depth + 1),
    );
  }
  return remaining;
}

/** Returns the value without its content: an empty list or object; null for a scalar that does not fit its schema. */
const emptied = (value: Json): Json => (isList(value) ? [] : isObject(value) ? {} : null);
