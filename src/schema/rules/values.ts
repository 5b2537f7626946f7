import { bytesOfUrlBase64 } from '../../api/base64.js';
import { parseDuration } from '../../api/go-duration.js';
import { isInt64 } from '../../api/go-integers.js';
import { timeProblem } from '../../api/go-time.js';
import { isObject, type Json, type JsonObject, member } from '../../api/object.js';
import { durationInWords } from '../../api/string-formats.js';
import { spend } from '../../cel/effort.js';
import { compared } from '../../cel/equality.js';
import { escapeField, unescapeField } from '../../cel/field-names.js';
import { goTypeOf as goTypeOfValue } from '../../cel/go-values.js';
import { isJsonBacked, type JsonBacked } from '../../cel/json-values.js';
import { lazyList } from '../../cel/lazy-list.js';
import { momentFromText } from '../../cel/library/timestamps.js';
import { memberNames } from '../../cel/member-names.js';
import { Duration, type EqualityResult, Failure, type MapValue, noSuchOverload, type Value } from '../../cel/values.js';
import { same } from '../same.js';
import type { Schema } from '../schema.js';
import { atomicList, keyedList, notMap, setList } from './lists.js';
import { withObjectMembers } from './resource-root.js';

/** Returns a value of a schema as expressions see it. Members and items are created when accessed. */
export function celValue(value: Json | undefined, schema: Schema): Value {
  if (value === null || value === undefined) {
    return schema.nullable ? null : new Failure('invalid data, got null for schema with nullable=false');
  }
  if (schema.intOrString) {
    if (typeof value === 'string') return value;
    return integerOf(value) ?? notIntOrString;
  }
  switch (schema.type) {
    case 'object':
      return isObject(value)
        ? new ObjectValue(value, schema.embeddedResource ? withObjectMembers(schema) : schema)
        : notMap;
    case 'array':
      return listValue(value, schema);
    case 'string':
      return typeof value === 'string' ? textValue(value, schema.format) : invalidData('string', value);
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : invalidData('float', value);
    case 'integer':
      return integerOf(value) ?? invalidData('int', value);
    case 'boolean':
      return typeof value === 'boolean' ? value : invalidData('bool', value);
    default:
      return new UnknownValue(value);
  }
}

/** Returns a whole resource as expressions see it. */
export const celResource = (value: Json, schema: Schema): Value => celValue(value, withObjectMembers(schema));

/** Returns a whole number that fits into 64 bits; undefined for other values. */
function integerOf(value: Json): bigint | undefined {
  const whole = typeof value === 'bigint' ? value : Number.isInteger(value) ? BigInt(value as number) : undefined;
  return whole !== undefined && isInt64(whole) ? whole : undefined;
}

const notIntOrString = new Failure('invalid data, expected XIntOrString value to be either a string or integer');
const notArray = new Failure('invalid data, expected an array for the provided schema with type=array');

const goTypes = { string: 'string', boolean: 'bool' };
const goTypeOf = (value: Json): string => {
  if (integerOf(value) !== undefined) return 'int64';
  if (typeof value === 'number') return 'float64';
  if (Object.hasOwn(goTypes, typeof value)) return goTypes[typeof value as keyof typeof goTypes];
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}';
};
const invalidData = (expected: string, value: Json): Failure => expectedFailure(expected, goTypeOf(value));
const expectedFailure = (expected: string, found: string): Failure =>
  new Failure(`invalid data, expected ${expected}, got ${found}`);

/** A value without a type that expressions know, which can only be compared. */
class UnknownValue implements JsonBacked {
  readonly kind = 'opaque';
  readonly name = 'unknown';
  readonly json: Json;
  constructor(value: Json) {
    this.json = value;
  }
  equals(other: unknown): boolean {
    return other instanceof UnknownValue && same(this.json, other.json);
  }
}

class ObjectValue implements MapValue, JsonBacked {
  readonly kind = 'map';
  readonly ofResource = true;
  readonly json: JsonObject;
  readonly #schema: Schema;
  constructor(value: JsonObject, schema: Schema) {
    this.json = value;
    this.#schema = schema;
  }

  get size(): number {
    return memberNames(this.json).length;
  }

  get(key: Value): Value | undefined {
    if (typeof key !== 'string') return noSuchOverload;
    const isMap = this.#schema.properties === undefined;
    const name = isMap ? key : unescapeField(key);
    return name === undefined ? undefined : this.#member(name);
  }

  *keys(): Iterable<Value> {
    for (const name of memberNames(this.json)) {
      if (this.#schemaOf(name) === undefined) continue;
      yield this.#schema.properties === undefined ? name : (escapeField(name) ?? name);
    }
  }

  /**
   * Members are looked up in both objects by their own names, not by those that `keys()` returns. A member without a
   * schema can only be compared with that of another object of this class.
   */
  readonly equals = (other: MapValue): EqualityResult => {
    if (this.size !== other.size) return false;
    for (const name of memberNames(this.json)) {
      const isSame =
        this.#schemaOf(name) === undefined
          ? this.#sameUnknown(name, other)
          : sameMembers(this.get(name), other.get(name));
      if (isSame !== true) return isSame;
    }
    return true;
  };

  #sameUnknown(name: string, other: MapValue): EqualityResult {
    if (!(other instanceof ObjectValue)) return noSuchOverload;
    const otherValue = member(other.json, name);
    return otherValue === undefined || same(this.json[name], otherValue);
  }

  #schemaOf(name: string): Schema | undefined {
    const { properties, additionalProperties } = this.#schema;
    if (properties !== undefined) return properties.get(name);
    return typeof additionalProperties === 'object' ? additionalProperties : undefined;
  }

  #member(name: string): Value | undefined {
    const value = member(this.json, name);
    const schema = this.#schemaOf(name);
    if (value === undefined || schema === undefined) return undefined;
    // A field that is null counts as absent; a member of a map that is null does not.
    if (value === null && this.#schema.properties !== undefined) return undefined;
    return celValue(value, schema);
  }
}

const sameMembers = (left: Value | undefined, right: Value | undefined): EqualityResult =>
  left === undefined || right === undefined ? left === right : compared(left, right, 'inside');

function listValue(value: Json, { items, listType, listMapKeys = [] }: Schema): Value {
  if (!Array.isArray(value)) return notArray;
  if (items === undefined) return new Failure('invalid array type, expected Items with a non-empty Schema');
  const list = lazyList(value.length, (at) => celValue(value[at], items));
  if (listType === 'map') return keyedList(list, listMapKeys, (item) => celValue(item, items));
  const see = (item: Value) => addedValue(item, items);
  return listType === 'set' ? setList(list, value, see) : atomicList(list, see);
}

/** Returns an item that was added to a list. Its Go value is read as JSON again, which may fail. */
function addedValue(item: Value, schema: Schema): Value {
  if (item === null) return unreadableItem(schema, item);
  if (typeof item !== 'object') return celValue(item, schema);
  if (item instanceof Failure) return item;
  if (isJsonBacked(item)) return celValue(item.json, schema);
  return 'ofResource' in item && item.ofResource ? item : unreadableItem(schema, item);
}

function unreadableItem({ intOrString, type }: Schema, item: Value): Value {
  if (intOrString) return notIntOrString;
  switch (type) {
    case undefined:
      return item;
    case 'object':
      return notMap;
    case 'array':
      return notArray;
    default:
      return expectedFailure({ ...goTypes, integer: 'int', number: 'float' }[type], goTypeOfValue(item));
  }
}

function textValue(text: string, format: string | undefined): Value {
  switch (format) {
    case 'byte':
      return bytesValue(text);
    case 'duration':
      return durationValue(text);
    case 'date':
      return (
        momentFromText(`${text}T00:00:00Z`) ??
        new Failure(`Invalid date formatted string ${text}: ${timeProblem(text, 'date')}`)
      );
    case 'date-time':
      return (
        timeValue(text || '1970-01-01T00:00:00Z') ??
        new Failure(`Invalid date-time formatted string ${text}: ${timeProblem(text, 'local')}`)
      );
    default:
      return text;
  }
}

/** Decodes base64 with the URL alphabet, although the format `byte` allows another one. */
function bytesValue(text: string): Value {
  const bytes = bytesOfUrlBase64(text);
  return 'illegalAt' in bytes
    ? new Failure(`Invalid byte formatted string ${text}: illegal base64 data at input byte ${bytes.illegalAt}`)
    : bytes;
}

/** Parses RFC 3339, or the same without a zone, which means UTC. */
const timeValue = (text: string): Value | undefined => momentFromText(text) ?? momentFromText(`${text}Z`);

/**
 * Parses a duration in the syntax of Go, or amounts with units in words anywhere in the text, as the format `duration`
 * allows.
 */
function durationValue(text: string): Value {
  spend(text.length);
  const parsed = parseDuration(text);
  const nanoseconds = parsed.wrong === undefined ? parsed.nanoseconds : durationInWords(text);
  return nanoseconds === undefined
    ? new Failure(`Invalid duration ${text}: unable to parse ${text} as duration`)
    : new Duration(BigInt.asIntN(64, nanoseconds));
}
