import type { Json } from '../../api/object.js';
import { isList } from '../../apply/json-value.js';

/** A JSON value as `encoding/json` names it in `cannot unmarshal ...`. */
export function typeName(value: Json): string {
  if (value === null) return 'null';
  if (isList(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value;
}
