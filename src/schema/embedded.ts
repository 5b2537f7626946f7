import { Complaints } from '../api/complaints.js';
import { goLowerCase } from '../api/go-text.js';
import { dns1035Label } from '../api/names.js';
import { groupVersionComplaint, isList, isObject, type Json, type JsonObject, type ObjectMeta } from '../api/object.js';
import { sortTexts } from '../api/text-order.js';
import { child, index, invalid, mapKey, required, type Violation } from '../api/violations.js';
import { compileDecoder } from './decode.js';
import { DecodeError } from './decode-error.js';
import { objectMeta } from './meta.js';
import { printable } from './printable.js';
import { mapList, mapObject } from './prune.js';
import type { Schema } from './schema.js';
import { someSubschema } from './some-subschema.js';
import { sortDeep } from './sort-members.js';

/** Embedded resources: nodes with `embeddedResource` have a type and metadata of their own. */

/**
 * Decodes `metadata` as Go does: types checked, unknown members dropped and reported under `metadata.`, empty ones left
 * out. Throws DecodeError.
 */
export function decodeMetadata(
  metadata: Json,
  path = 'metadata',
): { readonly metadata: JsonObject; readonly unknownFields: readonly string[] } {
  const { decoded, complaints } = inOrder((value) => {
    const strict = new Complaints();
    return { decoded: compileDecoder(objectMeta)(value, { strict, path, unquoted: true }), complaints: strict.texts };
  }, metadata);
  const unknownFields = complaints.map((text) => text.replace(/^\w+ field "([\s\S]*)"$/, '$1'));
  return { metadata: isObject(decoded) ? withoutEmptyManagers(decoded) : {}, unknownFields };
}

interface Decoded {
  readonly decoded: Json;
  readonly complaints: readonly string[];
}

/** Decodes with members sorted by name, so that errors come in Go's order. */
function inOrder(decode: (value: Json) => Decoded, value: Json): Decoded {
  try {
    const read = decode(value);
    return read.complaints.length > 1 ? decode(sortDeep(value)) : read;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return decode(sortDeep(value));
  }
}

/** Returns the metadata without an empty list of managedFields, which is significant only for built-in kinds. */
function withoutEmptyManagers(metadata: JsonObject): JsonObject {
  const { managedFields } = metadata;
  if (managedFields === undefined || !isList(managedFields) || managedFields.length > 0) return metadata;
  const { managedFields: _, ...rest } = metadata;
  return rest;
}

/** Returns metadata without the members that Go cannot decode. */
export function readableMetadata(metadata: Json): JsonObject {
  if (!isObject(metadata)) return {};
  try {
    return decodeMetadata(metadata).metadata;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
  }
  const readable: Record<string, Json> = {};
  for (const name of objectMeta.properties?.keys() ?? []) {
    if (!Object.hasOwn(metadata, name)) continue;
    try {
      decodeMetadata({ [name]: metadata[name] ?? null });
      readable[name] = metadata[name] ?? null;
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
    }
  }
  return decodeMetadata(readable).metadata;
}

export interface Coerced {
  readonly value: Json;
  readonly unknownFields: readonly string[];
  /** The violation of the first member that cannot be decoded. If it is set, `value` must not be used. */
  readonly refused?: Violation;
}

interface Coercion {
  readonly drop: boolean;
  readonly unknownFields: Complaints;
}
class InvalidEmbedded extends Error {
  readonly violation: Violation;
  constructor(violation: Violation) {
    super(violation.body);
    this.violation = violation;
  }
}

/**
 * Normalises type and metadata of embedded resources. Members that cannot be decoded are reported, or dropped with
 * `drop`.
 */
export function coerceEmbedded(
  value: Json,
  schema: Schema,
  { path = '', drop = false }: { readonly path?: string; readonly drop?: boolean } = {},
): Coerced {
  const coercion: Coercion = { drop, unknownFields: new Complaints({ most: Infinity }) };
  try {
    const coerced = coerce(value, schema, path, coercion);
    return { value: coerced, unknownFields: sortTexts([...coercion.unknownFields.texts]) };
  } catch (error) {
    if (error instanceof InvalidEmbedded) return { value, unknownFields: [], refused: error.violation };
    throw error;
  }
}

const hasEmbedded = someSubschema(({ embeddedResource }) => embeddedResource === true);

function coerce(value: Json, schema: Schema, path: string, coercion: Coercion): Json {
  if (typeof value !== 'object' || value === null || !hasEmbedded(schema)) return value;
  const { items, properties, additionalProperties, embeddedResource } = schema;
  if (isList(value)) {
    return items === undefined ? value : mapList(value, (item, at) => coerce(item, items, index(path, at), coercion));
  }
  if (!isObject(value)) return value;
  return mapObject(value, (member, name) => {
    const shaped = embeddedResource ? coerceMember(member, name, path, coercion) : member;
    if (shaped === undefined) return undefined;
    const inner = properties?.get(name);
    if (inner) return coerce(shaped, inner, child(path, name), coercion);
    if (typeof additionalProperties === 'object')
      return coerce(shaped, additionalProperties, mapKey(path, name), coercion);
    return shaped;
  });
}

function coerceMember(member: Json, name: string, path: string, { drop, unknownFields }: Coercion): Json | undefined {
  if (name === 'apiVersion' || name === 'kind') {
    if (typeof member === 'string') return member;
    if (drop) return undefined;
    throw new InvalidEmbedded(invalid(child(path, name), printable(member), 'must be a string'));
  }
  if (name !== 'metadata') return member;
  const at = child(path, 'metadata');
  // Go keeps embedded metadata as maps, which it prints sorted by name.
  if (drop) return member === null || isObject(member) ? sortDeep(readableMetadata(member)) : member;
  try {
    const { metadata, unknownFields: unknown } = decodeMetadata(member, at);
    for (const field of unknown) unknownFields.add(() => field);
    return sortDeep(metadata);
  } catch (error) {
    if (error instanceof DecodeError) throw new InvalidEmbedded(invalid(at, printable(member), error.message));
    throw error;
  }
}

/** Checks the metadata of an embedded resource; returns violations with fields under `metadata`. */
export type CheckMetadata = (metadata: ObjectMeta) => readonly Violation[];

/** Returns the violations of types and metadata in embedded resources. */
export function embeddedViolations(
  value: Json,
  schema: Schema,
  checkMetadata: CheckMetadata,
  path = '',
): readonly Violation[] {
  const violations: Violation[] = [];
  check(value, schema, path, checkMetadata, violations);
  return violations;
}

function check(value: unknown, schema: Schema, path: string, checkMetadata: CheckMetadata, out: Violation[]): void {
  if (typeof value !== 'object' || value === null || !hasEmbedded(schema)) return;
  const { items, properties, additionalProperties } = schema;
  if (Array.isArray(value)) {
    if (items) {
      value.forEach((item, at) => {
        check(item, items, index(path, at), checkMetadata, out);
      });
    }
    return;
  }
  if (!isObject(value)) return;
  if (schema.embeddedResource) for (const violation of ofResource(value, path, checkMetadata)) out.push(violation);
  for (const name of Object.keys(value)) {
    const inner = properties?.get(name);
    if (inner) check(value[name], inner, child(path, name), checkMetadata, out);
    else if (typeof additionalProperties === 'object') {
      check(value[name], additionalProperties, mapKey(path, name), checkMetadata, out);
    }
  }
}

function ofResource(value: JsonObject, path: string, checkMetadata: CheckMetadata): readonly Violation[] {
  const { apiVersion, kind, metadata } = value;
  const has = (name: string): boolean => Object.hasOwn(value, name);
  return [
    ...(has('apiVersion') ? [] : [required(child(path, 'apiVersion'))]),
    ...(has('kind') ? [] : [required(child(path, 'kind'))]),
    ...(has('apiVersion') ? wrongApiVersion(apiVersion, child(path, 'apiVersion')) : []),
    ...(has('kind') ? wrongKind(kind, child(path, 'kind')) : []),
    ...(has('metadata') ? wrongMetadata(metadata ?? null, path, checkMetadata) : []),
  ];
}

function wrongApiVersion(apiVersion: Json | undefined, path: string): readonly Violation[] {
  if (typeof apiVersion !== 'string') return [invalid(path, apiVersion, 'must be a string')];
  if (apiVersion === '') return [invalid(path, apiVersion, 'must not be empty')];
  const wrong = groupVersionComplaint(apiVersion);
  return wrong === undefined ? [] : [invalid(path, apiVersion, wrong)];
}

function wrongKind(kind: Json | undefined, path: string): readonly Violation[] {
  if (typeof kind !== 'string') return [invalid(path, kind, 'must be a string')];
  if (kind === '') return [invalid(path, kind, 'must not be empty')];
  const wrong = dns1035Label(goLowerCase(kind));
  return wrong.length === 0
    ? []
    : [invalid(path, kind, `may have mixed case, but should otherwise match: ${wrong.join()}`)];
}

function wrongMetadata(metadata: Json, path: string, checkMetadata: CheckMetadata): readonly Violation[] {
  try {
    // The types have just been checked as Go does.
    const decoded = decodeMetadata(metadata).metadata as ObjectMeta;
    return checkMetadata(decoded).map((violation) => ({ ...violation, field: child(path, violation.field) }));
  } catch (error) {
    if (error instanceof DecodeError) return [invalid(child(path, 'metadata'), printable(metadata), error.message)];
    throw error;
  }
}
