import { isList, isObject, type Json, member } from '../../api/object.js';
import { Postponed, type Steps } from '../../api/steps.js';
import { isWhole } from '../../apply/go-print.js';
import { goType, itemsOf, valuesOf, type WireShape, wireShape } from '../../schema/go-types.js';
import type { Schema } from '../../schema/schema.js';
import { typeName } from './go-decoding.js';

/**
 * What Go's converter complains about when decoded JSON does not fit a built-in kind: the results of strategic merge
 * patch and of apply go through it and not through the JSON decoder. Texts that types read themselves (times,
 * quantities, bytes) are left to the decoder. undefined: nothing. What is in lists and maps of thousands comes last.
 */
export function* conversionProblem(schema: Schema, value: Json, numbers: Numbers): Steps<string | undefined> {
  const later = new Postponed();
  const converter = new Converter(numbers, later);
  converter.convert(schema, value);
  yield* later.rest();
  return converter.problem;
}

/** How Go holds whole numbers. */
type Numbers = 'int' | 'float';

class Converter {
  /** The first that was found. */
  problem: string | undefined;
  readonly #numbers: Numbers;
  readonly #later: Postponed;

  constructor(numbers: Numbers, later: Postponed) {
    this.#numbers = numbers;
    this.#later = later;
  }

  convert(schema: Schema, value: Json): void {
    if (value === null || this.problem !== undefined) return;
    const shape = wireShape(schema);
    if (shape === 'struct') this.#convertStruct(schema, value);
    else if (shape === 'map') this.#convertMap(schema, value);
    else if (shape === 'list') this.#convertList(schema, value);
    else this.problem = scalarProblem(schema, shape, value, this.#numbers);
  }

  #convertStruct(schema: Schema, value: Json): void {
    if (!isObject(value)) {
      this.problem = `cannot restore struct from: ${goKind(value, this.#numbers)}`;
      return;
    }
    for (const [name, field] of schema.properties ?? []) this.convert(field, member(value, name) ?? null);
  }

  #convertMap(schema: Schema, value: Json): void {
    if (!isObject(value)) {
      this.problem = `cannot restore map from ${goKind(value, this.#numbers)}`;
      return;
    }
    const names = Object.keys(value);
    const values = valuesOf(schema);
    this.#later.each(names.length, (at) => this.convert(values, value[names[at] ?? ''] ?? null));
  }

  #convertList(schema: Schema, value: Json): void {
    if (!isList(value)) {
      this.problem = `cannot restore slice from ${goKind(value, this.#numbers)}`;
      return;
    }
    const items = itemsOf(schema);
    this.#later.each(value.length, (at) => this.convert(items, value[at] ?? null));
  }
}

function scalarProblem(schema: Schema, shape: WireShape, value: Json, numbers: Numbers): string | undefined {
  switch (shape) {
    case 'bytes':
      return typeof value === 'string' || isList(value)
        ? undefined
        : `cannot restore slice from ${goKind(value, numbers)}`;
    case 'string':
      if (typeof value === 'string') return undefined;
      // Go takes whole numbers for convertible to text, and thinks better of it later.
      return goKind(value, numbers) === 'int64'
        ? `cannot convert int64 to ${goType(schema)}`
        : 'unrecognized type: string';
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'unrecognized type: bool';
    case 'int32':
    case 'int64':
      if (typeof value !== 'number' && typeof value !== 'bigint') return `unrecognized type: ${shape}`;
      return isWhole(value) ? undefined : `cannot convert float64 to ${shape}`;
    case 'double':
      return typeof value === 'number' || typeof value === 'bigint' ? undefined : 'unrecognized type: float64';
    case 'time':
    case 'micro-time':
      // These decode themselves, and do not know which field they are of.
      return typeof value === 'string'
        ? undefined
        : `json: cannot unmarshal ${typeName(value)} into Go value of type string`;
    default:
      return undefined;
  }
}

/** `reflect.Kind` of a decoded JSON value. */
function goKind(value: Json, numbers: Numbers): string {
  if (typeof value === 'number' || typeof value === 'bigint')
    return numbers === 'int' && isWhole(value) ? 'int64' : 'float64';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  return isList(value) ? 'slice' : 'map';
}

/** How the same converter words the decoder's complaint about text that is not base64. */
export const inConverter = (message: string): string =>
  message.startsWith('illegal base64 data') ? `error decoding from json: ${message}` : message;
