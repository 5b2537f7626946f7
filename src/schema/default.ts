import { isList, isObject, type Json, type JsonObject, setMember } from '../api/object.js';
import { oncePer } from '../api/once.js';
import { isEmpty, omitsEmpty } from './presence.js';
import { mapList, mapObject } from './prune.js';
import type { Schema } from './schema.js';
import { someSubschema } from './some-subschema.js';

/** Applies the schema's defaults to absent and null values. */

const missing = (value: Json | undefined, schema: Schema): boolean =>
  value === undefined || (value === null && schema.nullable !== true);

/**
 * The maximum number of values that defaults may add to one custom resource, because each item of a list may need many.
 * A long text counts as several values.
 */
export const maxDefaulted = 50_000;
/** The number of characters that count as one more value. */
const charactersOfValue = 64;

/** The number of values that defaults may still add; negative once exceeded. */
export interface DefaultsBudget {
  left: number;
}

/**
 * Fills in defaults for absent members and for nulls that are not nullable, recursively; parents are never created.
 * Values beyond the budget are left as they are. Returns the same value if nothing is missing.
 */
export function applyDefaults<T extends Json>(
  value: T,
  schema: Schema,
  budget: DefaultsBudget = { left: Infinity },
): T {
  // Objects stay objects, lists stay lists, the rest is returned as it is.
  return fill(value, schema, budget) as T;
}

function fill(value: Json, schema: Schema, budget: DefaultsBudget): Json {
  if (typeof value !== 'object' || value === null || budget.left < 0 || !hasDefaults(schema)) return value;
  const filled = (inner: Json, of: Schema): Json =>
    missing(inner, of) ? (defaultOf(of, budget) ?? inner) : fill(inner, of, budget);
  if (isList(value)) {
    const { items } = schema;
    return items === undefined ? value : mapList(value, (item) => filled(item, items));
  }
  if (!isObject(value)) return value;
  const { properties, additionalProperties } = schema;
  const others = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  const present = mapObject(value, (member, name) => {
    const inner = properties?.get(name) ?? others;
    return inner === undefined ? member : filled(member, inner);
  });
  return withAbsent(present, schema, budget);
}

function withAbsent(object: JsonObject, schema: Schema, budget: DefaultsBudget): JsonObject {
  let out: Record<string, Json> | undefined;
  for (const [name, inner] of propertiesWithDefault(schema)) {
    if (Object.hasOwn(object, name)) continue;
    const value = defaultOf(inner, budget);
    if (value === undefined) break;
    out ??= copy(object);
    setMember(out, name, value);
  }
  return out ?? object;
}

/** Returns the default of a value, itself completed by defaults; undefined if there is none or the budget is exceeded. */
function defaultOf(schema: Schema, budget: DefaultsBudget): Json | undefined {
  if (!hasDefault(schema)) return undefined;
  const { value, size } = wholeDefault(schema);
  budget.left -= size;
  return budget.left < 0 ? undefined : value;
}

interface WholeDefault {
  readonly value: Json;
  /** The number of values in the default. */
  readonly size: number;
}

const wholeDefault = oncePer((schema: Schema): WholeDefault => {
  const declared = givenDefault(schema) ?? null;
  const budget = { left: maxDefaulted };
  const value = fill(declared, schema, budget);
  return { value, size: budget.left < 0 ? Infinity : countValues(declared) + maxDefaulted - budget.left };
});

const sizeOfText = (text: string): number => Math.floor(text.length / charactersOfValue);

function countValues(value: Json): number {
  if (typeof value === 'string') return 1 + sizeOfText(value);
  if (typeof value !== 'object' || value === null) return 1;
  if (isList(value)) return value.reduce((sum: number, inner: Json) => sum + countValues(inner), 1);
  return Object.entries(value).reduce(
    (sum: number, [name, inner]: readonly [string, Json]) => sum + sizeOfText(name) + countValues(inner),
    1,
  );
}

function copy(object: JsonObject): Record<string, Json> {
  const out: Record<string, Json> = {};
  for (const name of Object.keys(object)) setMember(out, name, object[name] ?? null);
  return out;
}

/**
 * Returns the value without null members that are neither nullable nor replaced by a default. Items of lists are kept.
 */
export function dropNulls<T extends Json>(value: T, schema: Schema): T {
  // Objects stay objects, lists stay lists, the rest is returned as it is.
  return dropDefaults(value, schema) as T;
}

function dropDefaults(value: Json, schema: Schema): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) {
    const { items } = schema;
    return items === undefined ? value : mapList(value, (item) => dropDefaults(item, items));
  }
  if (!isObject(value)) return value;
  const { properties, additionalProperties } = schema;
  const others = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  return mapObject(value, (member, name) => {
    const inner = properties?.get(name) ?? others;
    if (inner === undefined) return member;
    if (member === null) return inner.nullable || hasDefault(inner) ? member : undefined;
    return dropDefaults(member, inner);
  });
}

/**
 * Returns the default of a schema. A zero value that Go omits does not count, because it would exist only until the
 * object is stored.
 */
function givenDefault(schema: Schema): Json | undefined {
  const { default: declared, wire } = schema;
  const value = declared ?? wire?.fills;
  return value !== undefined && wire !== undefined && omitsEmpty(schema) && isEmpty(value) ? undefined : value;
}
const hasDefault = (schema: Schema): boolean => (givenDefault(schema) ?? null) !== null;

const propertiesWithDefault = oncePer((schema: Schema): readonly (readonly [string, Schema])[] =>
  [...(schema.properties ?? [])].filter(([, property]) => hasDefault(property)),
);

const hasDefaults = someSubschema(hasDefault);
