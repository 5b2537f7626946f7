import { isList, type Json } from '../../api/object.js';

/** A JSON value as `encoding/json` names it in `cannot unmarshal ...`. */
export function typeName(value: Json): string {
  if (value === null) return 'null';
  if (isList(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value;
}
