import { quote } from '../api/go-text.js';
import type { Json } from '../api/object.js';
import { compareText, isList, isObject } from './json-value.js';

/** How Go's fmt prints decoded JSON: error texts of patches and of server-side apply contain it. */

/** `int` where the decoder kept whole numbers apart (strategic merge), `float` where it did not (apply). */
export type NumberKind = 'int' | 'float';

/** Nothing below this depth is printed: texts are for people. */
const deepest = 100;

/** `%v` and `%+v`: `map[a:1 b:[x y]]`. */
export function goValue(value: Json, numbers: NumberKind = 'float', depth = 0): string {
  if (value === null) return '<nil>';
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number' || typeof value === 'bigint') return goNumber(value, numbers);
  if (depth > deepest) return '...';
  if (isList(value)) return `[${value.map((item) => goValue(item, numbers, depth + 1)).join(' ')}]`;
  if (!isObject(value)) return String(value);
  const members = Object.keys(value).sort(compareText);
  return `map[${members.map((key) => `${key}:${goValue(value[key] ?? null, numbers, depth + 1)}`).join(' ')}]`;
}

/** `%#v`: `map[string]interface {}{"a":1}`. */
export function goSyntax(value: Json, numbers: NumberKind = 'float', depth = 0): string {
  if (value === null) return 'interface {}(nil)';
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number' || typeof value === 'bigint') return goNumber(value, numbers);
  if (depth > deepest) return '...';
  if (isList(value)) {
    return `[]interface {}{${value.map((item) => goSyntax(item, numbers, depth + 1)).join(', ')}}`;
  }
  if (!isObject(value)) return String(value);
  const members = Object.keys(value).sort(compareText);
  const printed = members.map((key) => `${quote(key)}:${goSyntax(value[key] ?? null, numbers, depth + 1)}`);
  return `map[string]interface {}{${printed.join(', ')}}`;
}

/** An int64 to the decoder that keeps whole numbers apart. */
export const isWhole = (value: Json): boolean => typeof value === 'bigint' || Number.isSafeInteger(value);

/** `%T`. */
export function goTypeName(value: Json, numbers: NumberKind = 'float'): string {
  if (value === null) return '<nil>';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  if (isList(value)) return '[]interface {}';
  if (isObject(value)) return 'map[string]interface {}';
  return numbers === 'int' && isWhole(value) ? 'int64' : 'float64';
}

/** A number as `%v` prints it: floats in the shortest form, with an exponent below 1e-04 and from 1e+06 on. */
export function goNumber(given: number | bigint, numbers: NumberKind): string {
  if (numbers === 'int' && isWhole(given)) return String(given);
  const value = Number(given);
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [digits = '', exponentText = '0'] = value.toExponential().split('e');
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return String(value);
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}
