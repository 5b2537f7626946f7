import { isList, isObject, type Json, setMember } from '../api/object.js';
import type { FieldSet } from './field-set.js';
import { elementIfAny } from './list-items.js';
import { fieldElement } from './path-element.js';
import { deepest, formOf, type Shape, shapeOfMember } from './shape.js';

/**
 * The value without the fields of a set. A container that loses its last part becomes null, and so does an atomic
 * value of which a part was to go. List items without identity stay as they are.
 */
export function remove(shape: Shape, value: Json, fields: FieldSet, depth = 0): Json {
  if (fields.size === 0 || depth >= deepest) return value;
  const form = formOf(shape, value);
  if (form === 'scalar') return value;
  if (form === 'list') {
    const { list } = shape;
    if (list === undefined || !isList(value) || list.type === 'atomic') return null;
    const left: Json[] = [];
    for (const item of value) {
      const element = elementIfAny(list, item);
      const node = element === undefined ? undefined : fields.get(element);
      if (node?.owned) continue;
      left.push(node === undefined ? item : remove(list.items, item, node.below, depth + 1));
    }
    return left.length === 0 ? null : left;
  }
  const { map } = shape;
  if (map === undefined || !isObject(value) || map.atomic) return null;
  const left: Record<string, Json> = {};
  let count = 0;
  for (const name of Object.keys(value)) {
    const node = fields.get(fieldElement(name));
    if (node?.owned) continue;
    const item = value[name] ?? null;
    setMember(left, name, node === undefined ? item : remove(shapeOfMember(map, name), item, node.below, depth + 1));
    count++;
  }
  return count === 0 ? null : left;
}
