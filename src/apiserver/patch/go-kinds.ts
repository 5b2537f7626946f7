import { type ApiError, untyped } from '../../api/errors.js';
import { isWhole } from '../../api/go-print.js';
import { jsonKind } from '../../api/json-exact.js';
import type { Json } from '../../api/object.js';

/** Returns the type of a JSON value as Go's decoder distinguishes them. */
export function goKindOf(value: Json): string {
  if (typeof value === 'number' || typeof value === 'bigint') return isWhole(value) ? 'int64' : 'float64';
  return jsonKind(value);
}

const goTypes: Readonly<Record<string, string>> = {
  array: '[]interface {}',
  object: 'map[string]interface {}',
  int64: 'int64',
  float64: 'float64',
  bool: 'bool',
  string: 'string',
  null: '%!s(<nil>)',
};

/** Returns the error for a value of an unexpected type. */
export const wrongType = (expected: string, value: Json): ApiError =>
  untyped(`expected a ${expected}, but received a ${goTypes[goKindOf(value)] ?? ''}`);
