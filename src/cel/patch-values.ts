import { NonJsonValue } from '../api/go-print.js';
import { quote } from '../api/go-text.js';
import { type Json, type JsonObject, setMember } from '../api/object.js';
import { itemsPerStep, type Steps } from '../api/steps.js';
import { foreign, goRune } from './go-values.js';
import type { JsonBacked } from './json-values.js';
import { timestampText } from './library/timestamps.js';
import { durationText } from './library/value-text.js';
import { PatchStruct } from './patch-types.js';
import { goTypeName } from './runtime-types.js';
import {
  Duration,
  Failure,
  type ListValue,
  type MapValue,
  type OpaqueValue,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from './values.js';

/** Thrown for a value that cannot become a patch. */
export class InvalidPatchValue extends Error {
  override readonly name = 'InvalidPatchValue';
}

/**
 * The number of values and bytes that may still be written; lists that are concatenated with themselves grow
 * exponentially.
 */
export interface OutputBudget {
  values: number;
  bytes: number;
}

const tooLarge = (): InvalidPatchValue => new InvalidPatchValue('the result of the expression is too large');

/** Takes one value from the budget; members, texts and bytes also take their size. */
function takeFromBudget(budget: OutputBudget, bytes: number): void {
  budget.values -= 1;
  budget.bytes -= bytes;
  if (budget.values < 0 || budget.bytes < 0) throw tooLarge();
}

/**
 * Converts an `Object{...}` for merging. As in Kubernetes, only the direct contents of lists and maps in it are
 * converted; what JSON cannot represent becomes `NonJsonValue`. Throws InvalidPatchValue.
 */
export function* configurationOf(written: PatchStruct, budget: OutputBudget): Steps<JsonObject> {
  const object = yield* new PatchValueWriter(budget).object(written);
  if (object instanceof NoMember) throw new InvalidPatchValue('invalid return type: *dynamic.ObjectVal');
  return object;
}

/**
 * Converts a value for a JSON Patch: whole numbers that doubles cannot hold, durations, timestamps and bytes become
 * text. Throws InvalidPatchValue.
 */
export function* patchValueOf(value: Value, budget: OutputBudget): Steps<Json> {
  return yield* new PatchValueWriter(budget).json(value);
}

/** The result for an object that cannot be written because one of its keys is not a string. */
class NoMember {
  readonly foreign: Json;

  constructor(message: string) {
    this.foreign = new NonJsonValue({ type: '*types.Err', value: message, syntax: message }) as unknown as Json;
  }
}

class PatchValueWriter {
  readonly #budget: OutputBudget;
  #seen = 0;

  constructor(budget: OutputBudget) {
    this.#budget = budget;
  }

  *object(written: PatchStruct): Steps<JsonObject | NoMember> {
    const out: Record<string, Json> = {};
    for (const field of written.fields()) {
      takeFromBudget(this.#budget, field.length);
      const value = yield* this.#field(written.get(field) ?? null, field);
      if (value instanceof NoMember) return value;
      setMember(out, field, value);
    }
    return out;
  }

  /**
   * Converts a field: lists and maps with their direct contents; list and map literals nested in these are not
   * converted.
   */
  *#field(member: Value, name: string): Steps<Json | NoMember> {
    const value = member instanceof Optional ? (member.value ?? null) : member;
    if (!isContainer(value) || value.json !== undefined) return yield* this.#native(value);
    if (value.kind === 'list') {
      const items: Json[] = [];
      for (let at = 0; at < value.size; at++) items.push(yield* this.#native(value.at(at)));
      return items;
    }
    const out: Record<string, Json> = {};
    for (const key of value.keys()) {
      if (typeof key !== 'string') {
        return new NoMember(
          `fail to convert field ${quote(name)}: map key ${goRune(key)} is of type ${goTypeName(key)}, not string`,
        );
      }
      takeFromBudget(this.#budget, key.length);
      setMember(out, key, yield* this.#native(value.get(key) ?? null));
    }
    return out;
  }

  /** Converts a value to the representation that Go has of it. */
  *#native(value: Value): Steps<Json> {
    if (++this.#seen % itemsPerStep === 0) yield;
    takeFromBudget(this.#budget, 0);
    if (value instanceof Failure) throw new InvalidPatchValue(value.message);
    if (value instanceof PatchStruct) {
      const object = yield* this.object(value);
      return object instanceof NoMember ? object.foreign : object;
    }
    if (isContainer(value) && value.json !== undefined) return this.#counted(value.json);
    if (typeof value === 'string') return this.#text(value);
    if (typeof value === 'boolean' || typeof value === 'number') return value;
    if (typeof value === 'bigint') return integerJson(value);
    if (value instanceof Uint) return integerJson(value.value);
    if (value instanceof TypeValue) return value.name;
    if (value instanceof Optional) return value.value === undefined ? foreign(null) : yield* this.#native(value.value);
    return foreign(value);
  }

  *json(value: Value): Steps<Json> {
    if (++this.#seen % itemsPerStep === 0) yield;
    takeFromBudget(this.#budget, 0);
    if (value === null || typeof value === 'boolean' || typeof value === 'number') return value;
    if (typeof value === 'string') return this.#text(value);
    if (typeof value === 'bigint') return safe(value);
    if (value instanceof Failure) throw new InvalidPatchValue(value.message);
    if (value instanceof Uint) return safe(value.value);
    if (value instanceof Uint8Array) return this.#text(Buffer.from(value).toString('base64'));
    if (value instanceof Timestamp) return timestampText(value);
    if (value instanceof Duration) return durationText(value);
    if (value instanceof TypeValue) throw new InvalidPatchValue("type conversion not supported for 'type'");
    if (value instanceof Optional) {
      if (value.value === undefined) throw new InvalidPatchValue('optional.none() dereference');
      return yield* this.json(value.value);
    }
    if (isContainer(value)) {
      return value.json === undefined ? yield* this.#container(value) : this.#counted(value.json);
    }
    if (value instanceof PatchStruct) return yield* this.#struct(value);
    if (value.kind === 'struct') throw new InvalidPatchValue(`disallowed conversion from ${quote(value.name)} to ""`);
    const { name } = value as OpaqueValue;
    throw new InvalidPatchValue(`type conversion error from '${shortName(name)}' to '*structpb.Value'`);
  }

  *#container(value: Container): Steps<Json> {
    if (value.kind === 'list') {
      const items: Json[] = [];
      for (let at = 0; at < value.size; at++) items.push(yield* this.json(value.at(at)));
      return items;
    }
    const out: Record<string, Json> = {};
    for (const key of value.keys()) {
      if (typeof key !== 'string') throw new InvalidPatchValue(noKey(key));
      takeFromBudget(this.#budget, key.length);
      setMember(out, key, yield* this.json(value.get(key) ?? null));
    }
    return out;
  }

  *#struct(value: PatchStruct): Steps<Json> {
    const out: Record<string, Json> = {};
    for (const field of value.fields()) {
      takeFromBudget(this.#budget, field.length);
      setMember(out, field, yield* this.json(value.get(field) ?? null));
    }
    return out;
  }

  #text(text: string): string {
    this.#budget.bytes -= text.length;
    if (this.#budget.bytes < 0) throw tooLarge();
    return text;
  }

  /** Returns JSON as it is, and counts it towards the budget. */
  #counted(json: Json): Json {
    const open: Json[] = [json];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      takeFromBudget(this.#budget, typeof next === 'string' ? next.length : 0);
      if (typeof next !== 'object' || next === null) continue;
      for (const [name, inner] of Object.entries(next)) {
        takeFromBudget(this.#budget, Array.isArray(next) ? 0 : name.length);
        open.push(inner);
      }
    }
    return json;
  }
}

type Container = (ListValue | MapValue) & Partial<JsonBacked>;

const isContainer = (value: Value): value is Container =>
  typeof value === 'object' && value !== null && 'kind' in value && (value.kind === 'list' || value.kind === 'map');

const integerJson = (value: bigint): Json => {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
};

const safe = (value: bigint): Json => {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
};

const noKey = (key: Value): string =>
  typeof key === 'boolean'
    ? "type conversion error from bool to 'string'"
    : `unsupported type conversion from '${key instanceof Uint ? 'uint' : 'int'}' to string`;

/** Returns the name within its own Go package. */
const shortName = (name: string): string =>
  name.startsWith('kubernetes.authorization.') ? name : name.slice(name.lastIndexOf('.') + 1);
