import { isWhole } from '../../api/go-print.js';
import { isList, isObject, type Json, member, setMember } from '../../api/object.js';
import { DeferredWork, type Steps } from '../../api/steps.js';
import { compileDecoder } from '../../schema/decode.js';
import { DecodeError } from '../../schema/decode-error.js';
import { goType, itemsOf, valuesOf, type WireShape, wireShape } from '../../schema/go-types.js';
import type { Schema } from '../../schema/schema.js';
import { sortDeep } from '../../schema/sort-members.js';

/** The result of Go's converter. */
export type ConversionResult<Value extends Json> =
  | { readonly value: Value; readonly problem?: never }
  | { readonly problem: string };

/**
 * Converts decoded JSON to a built-in kind as the converter of Go does, which handles the results of strategic merge
 * patch and of apply instead of the JSON decoder. Integers that overflow their field lose their upper bits. Go types
 * that decode themselves are decoded in place, so that the first of all problems is reported. The contents of lists and
 * maps with thousands of items are converted last.
 */
export function* convertUnstructured<Value extends Json>(
  schema: Schema,
  value: Value,
  numbers: Numbers,
): Steps<ConversionResult<Value>> {
  const later = new DeferredWork();
  const converter = new Converter(numbers, later);
  converter.convert(schema, value);
  yield* later.rest();
  if (converter.problem !== undefined) return { problem: converter.problem };
  return { value: converter.overflows ? (cut(schema, value) as Value) : value };
}

/** How Go represents integers. */
type Numbers = 'int' | 'float';

class Converter {
  /** The first problem found. */
  problem: string | undefined;
  /** Whether a number overflows its field. */
  overflows = false;
  readonly #numbers: Numbers;
  readonly #later: DeferredWork;

  constructor(numbers: Numbers, later: DeferredWork) {
    this.#numbers = numbers;
    this.#later = later;
  }

  convert(schema: Schema, value: Json): void {
    if (value === null || this.problem !== undefined) return;
    const shape = wireShape(schema);
    if (shape === 'struct') this.#convertStruct(schema, value);
    else if (shape === 'map') this.#convertMap(schema, value);
    else if (shape === 'list') this.#convertList(schema, value);
    else if (shape === 'bytes' && isList(value)) this.#later.each(value.length, (at) => this.#convertByte(value[at]));
    else {
      this.problem = scalarProblem(schema, shape, value, this.#numbers) ?? ownProblem(schema, shape, value);
      if (isWholeShape(shape) && this.problem === undefined) this.overflows ||= cutNumber(value, shape) !== value;
    }
  }

  #convertByte(value: Json = null): void {
    if (value === null || this.problem !== undefined) return;
    this.problem = wholeProblem(value, 'uint8');
    if (this.problem === undefined) this.overflows ||= cutNumber(value, 'uint8') !== value;
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
      return typeof value === 'string' ? undefined : `cannot restore slice from ${goKind(value, numbers)}`;
    case 'string':
      if (typeof value === 'string') return undefined;
      // Go first considers integers convertible to strings, and then fails.
      return goKind(value, numbers) === 'int64'
        ? `cannot convert int64 to ${goType(schema)}`
        : 'unrecognized type: string';
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'unrecognized type: bool';
    case 'int32':
    case 'int64':
      return wholeProblem(value, shape);
    case 'double':
      return typeof value === 'number' || typeof value === 'bigint' ? undefined : 'unrecognized type: float64';
    default:
      return undefined;
  }
}

const selfDecoding: ReadonlySet<WireShape> = new Set([
  'bytes',
  'time',
  'micro-time',
  'quantity',
  'int-or-string',
  'union',
]);

/**
 * Returns the error of a type that decodes itself. Such a type receives JSON with sorted members and does not know its
 * path.
 */
function ownProblem(schema: Schema, shape: WireShape, value: Json): string | undefined {
  if (!selfDecoding.has(shape)) return undefined;
  try {
    compileDecoder(schema)(sortDeep(value));
    return undefined;
  } catch (error) {
    if (error instanceof DecodeError) return converterMessage(error);
    throw error;
  }
}

const bits = { uint8: 8, int32: 32, int64: 64 } as const;
type WholeShape = keyof typeof bits;
const isWholeShape = (shape: WireShape): shape is WireShape & WholeShape => shape === 'int32' || shape === 'int64';

function wholeProblem(value: Json, shape: WholeShape): string | undefined {
  if (typeof value !== 'number' && typeof value !== 'bigint') return `unrecognized type: ${shape}`;
  return typeof value === 'bigint' || Number.isInteger(value) ? undefined : `cannot convert float64 to ${shape}`;
}

/**
 * The limit of doubles that fit into 64 bits. Greater ones all become the smallest integer before they are truncated.
 */
const beyond64 = 2 ** 63;

/** Truncates an integer to the bits of its field. */
function cutNumber(value: Json, shape: WholeShape): Json {
  if (typeof value !== 'number' && typeof value !== 'bigint') return value;
  if (typeof value === 'number' && shape === 'int32' && (value | 0) === value) return value;
  const integer = typeof value === 'number' && Math.abs(value) >= beyond64 ? -BigInt(beyond64) : BigInt(value);
  const truncated = shape === 'uint8' ? BigInt.asUintN(bits[shape], integer) : BigInt.asIntN(bits[shape], integer);
  const number = Number(truncated);
  return Number.isSafeInteger(number) ? number : truncated;
}

/** Returns the value with every number truncated to its field. The depth was limited when the texts were parsed. */
function cut(schema: Schema, value: Json): Json {
  const shape = wireShape(schema);
  if (isWholeShape(shape)) return cutNumber(value, shape);
  if (isList(value)) {
    if (shape === 'bytes') return value.map((item) => cutNumber(item, 'uint8'));
    const items = itemsOf(schema);
    return shape === 'list' ? value.map((item) => cut(items, item)) : value;
  }
  if (!isObject(value) || (shape !== 'struct' && shape !== 'map')) return value;
  const out: Record<string, Json> = {};
  for (const [name, item] of Object.entries(value)) {
    const field = shape === 'map' ? valuesOf(schema) : schema.properties?.get(name);
    setMember(out, name, field === undefined ? item : cut(field, item));
  }
  return out;
}

/** Returns the `reflect.Kind` of a decoded JSON value. */
function goKind(value: Json, numbers: Numbers): string {
  if (typeof value === 'number' || typeof value === 'bigint')
    return numbers === 'int' && isWhole(value) ? 'int64' : 'float64';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  return isList(value) ? 'slice' : 'map';
}

/** Returns the message of a DecodeError in the converter's wording. */
export const converterMessage = ({ innerMessage }: DecodeError): string =>
  innerMessage.startsWith('illegal base64 data') ? `error decoding from json: ${innerMessage}` : innerMessage;
