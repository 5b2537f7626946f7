import { isList, isObject, type Json, member } from '../../api/object.js';
import { isWhole } from '../../apply/go-print.js';
import { itemsOf, valuesOf, wireShape } from '../../schema/go-types.js';
import type { Schema } from '../../schema/schema.js';

/**
 * What Go's converter complains about when decoded JSON does not fit a built-in kind: the results of strategic merge
 * patch and of apply go through it and not through the JSON decoder. Types that read their own text (times,
 * quantities, bytes) are left to the decoder. undefined: nothing.
 */
export function conversionProblem(schema: Schema, value: Json, numbers: 'int' | 'float'): string | undefined {
  if (value === null) return undefined;
  const shape = wireShape(schema);
  switch (shape) {
    case 'struct':
      return structProblem(schema, value, numbers);
    case 'map':
      if (!isObject(value)) return `cannot restore map from ${goKind(value, numbers)}`;
      return firstOf(Object.values(value), (item) => conversionProblem(valuesOf(schema), item, numbers));
    case 'list':
      if (!isList(value)) return `cannot restore slice from ${goKind(value, numbers)}`;
      return firstOf(value, (item) => conversionProblem(itemsOf(schema), item, numbers));
    case 'bytes':
      return typeof value === 'string' || isList(value)
        ? undefined
        : `cannot restore slice from ${goKind(value, numbers)}`;
    case 'string':
      if (typeof value === 'string') return undefined;
      // Go takes whole numbers for convertible to text, and thinks better of it later.
      return goKind(value, numbers) === 'int64' ? 'cannot convert int64 to string' : 'unrecognized type: string';
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'unrecognized type: bool';
    case 'int32':
    case 'int64':
      if (typeof value !== 'number' && typeof value !== 'bigint') return `unrecognized type: ${shape}`;
      return isWhole(value) ? undefined : `cannot convert float64 to ${shape}`;
    case 'double':
      return typeof value === 'number' || typeof value === 'bigint' ? undefined : 'unrecognized type: float64';
    default:
      return undefined;
  }
}

function structProblem(schema: Schema, value: Json, numbers: 'int' | 'float'): string | undefined {
  if (!isObject(value)) return `cannot restore struct from: ${goKind(value, numbers)}`;
  return firstOf(schema.properties ?? [], ([name, field]) => {
    const item = member(value, name);
    return item === undefined ? undefined : conversionProblem(field, item, numbers);
  });
}

function firstOf<T>(items: Iterable<T>, problem: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = problem(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `reflect.Kind` of a decoded JSON value. */
function goKind(value: Json, numbers: 'int' | 'float'): string {
  if (typeof value === 'number' || typeof value === 'bigint')
    return numbers === 'int' && isWhole(value) ? 'int64' : 'float64';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  return isList(value) ? 'slice' : 'map';
}

/** How the same converter words the decoder's complaint about text that is not base64. */
export const inConverter = (message: string): string =>
  message.startsWith('illegal base64 data') ? `error decoding from json: ${message}` : message;
