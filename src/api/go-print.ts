import { goNumber, quote } from './go-text.js';
import { isList, isObject, type Json } from './object.js';
import { sortTexts } from './text-order.js';

/** Prints decoded JSON as Go's fmt does: error texts of patches and of server-side apply contain it. */

/** Nothing below this depth is printed, because the texts are for people. */
const deepest = 100;

/** A value as Go's fmt prints it. */
export interface Printed {
  /** `%T`. */
  readonly type: string;
  /** `%v`. */
  readonly value: string;
  /** `%#v`. */
  readonly syntax: string;
}

/** A value that JSON cannot represent, with its Go representation. It stands for a JSON value only until the value is refused. */
export class NonJsonValue {
  readonly printed: Printed;

  constructor(printed: Printed) {
    this.printed = printed;
  }
}

const foreignOf = (value: Json): NonJsonValue | undefined =>
  (value as unknown) instanceof NonJsonValue ? (value as unknown as NonJsonValue) : undefined;
export const isNonJson = (value: Json): boolean => foreignOf(value) !== undefined;

/** Formats a value as `%v` and `%+v` do: `map[a:1 b:[x y]]`. */
export function goValue(value: Json, depth = 0): string {
  if (value === null) return '<nil>';
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number' || typeof value === 'bigint') return goNumber(value);
  if (depth > deepest) return '...';
  const foreign = foreignOf(value);
  if (foreign !== undefined) return foreign.printed.value;
  if (isList(value)) return `[${value.map((item) => goValue(item, depth + 1)).join(' ')}]`;
  if (!isObject(value)) return String(value);
  const members = sortTexts(Object.keys(value));
  return `map[${members.map((key) => `${key}:${goValue(value[key] ?? null, depth + 1)}`).join(' ')}]`;
}

/** Formats a value as `%#v` does: `map[string]interface {}{"a":1}`. */
export function goSyntax(value: Json, depth = 0): string {
  if (value === null) return 'interface {}(nil)';
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number' || typeof value === 'bigint') return goNumber(value);
  if (depth > deepest) return '...';
  const foreign = foreignOf(value);
  if (foreign !== undefined) return foreign.printed.syntax;
  if (isList(value)) {
    return `[]interface {}{${value.map((item) => goSyntax(item, depth + 1)).join(', ')}}`;
  }
  if (!isObject(value)) return String(value);
  const members = sortTexts(Object.keys(value));
  const printed = members.map((key) => `${quote(key)}:${goSyntax(value[key] ?? null, depth + 1)}`);
  return `map[string]interface {}{${printed.join(', ')}}`;
}

/** Whether Kubernetes' decoders, which distinguish integers from floats, read the value as an int64. */
export const isWhole = (value: Json): boolean => typeof value === 'bigint' || Number.isSafeInteger(value);

/** `%T`. */
export function goTypeName(value: Json): string {
  if (value === null) return '<nil>';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  const foreign = foreignOf(value);
  if (foreign !== undefined) return foreign.printed.type;
  if (isList(value)) return '[]interface {}';
  if (isObject(value)) return 'map[string]interface {}';
  return isWhole(value) ? 'int64' : 'float64';
}

/** Exceptions: events of both groups share one internal type, and the Scale of custom resources is no internal type. */
const packages = new Map([
  ['', 'core'],
  ['events.k8s.io', 'core'],
  ['autoscaling', 'v1'],
]);

/** Returns the Go package of a group's internal types, as `%T` prints it. */
export const internalPackage = (group: string): string => packages.get(group) ?? group.split('.', 1)[0] ?? '';
