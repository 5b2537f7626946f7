import type { Json } from '../../api/object.js';
import { maxRequestBytes } from '../../api/request-size.js';
import type { DeclType } from '../../cel/decl-type.js';
import { escapeField } from '../../cel/field-names.js';
import { bool, bytes, double, duration, dyn, int, string, type Type, timestamp } from '../../cel/types.js';
import type { Schema } from '../schema.js';
import { withObjectMembers } from './resource-root.js';

/**
 * The declaration of a schema for expressions: the type of its values, and their maximum size within one request. Sizes
 * are estimated as in kube-apiserver (`k8s.io/apiserver/pkg/cel/common`).
 */
export interface DeclaredSchema extends DeclType {
  /** The minimum size of its JSON in bytes. */
  readonly minSize: number;
}

const dateText = 12;
const timeText = 32;
const durationText = 32;
const anyText = maxRequestBytes - 2;
const smallest = { text: 2, date: 12, time: 21, duration: 3, bool: 4, number: 1, container: 2 };

const scalar = (type: Type, minSize: number, maxElements = 0): DeclaredSchema => ({
  type,
  minSize,
  maxElements,
});
const declaredBool = scalar(bool, smallest.bool);
const declaredInt = scalar(int, smallest.number);
const declaredDouble = scalar(double, smallest.number);
const declaredKey = scalar(string, smallest.text);

const declaredUnknown: DeclaredSchema = { fields: new Map(), maxElements: 0, minSize: smallest.container };

const declarations = new WeakMap<Schema, { readonly declared: DeclaredSchema | undefined }>();

/**
 * Returns the declaration of a schema; undefined if expressions cannot see its values. `isRoot`: the schema is that of
 * a whole resource. The result is cached by schema.
 */
export function declareSchema(schema: Schema, isRoot = schema.embeddedResource === true): DeclaredSchema | undefined {
  const complete = isRoot && !schema.intOrString ? withObjectMembers(schema) : schema;
  const known = declarations.get(complete);
  if (known !== undefined) return known.declared;
  // A schema within itself is declared as an object about which nothing is known.
  declarations.set(complete, { declared: declaredUnknown });
  const declared = declareNode(complete);
  declarations.set(complete, { declared });
  return declared;
}

function declareNode(schema: Schema): DeclaredSchema | undefined {
  if (schema.intOrString) return scalar(dyn, smallest.number, textLimit(schema) ?? anyText);
  switch (schema.type) {
    case 'array':
      return declareList(schema);
    case 'object':
      return typeof schema.additionalProperties === 'object'
        ? declareMap(schema, schema.additionalProperties)
        : declareObject(schema);
    case 'string':
      return declareText(schema);
    case 'boolean':
      return declaredBool;
    case 'number':
      return declaredDouble;
    case 'integer':
      return declaredInt;
    default:
      // RawExtension holds objects of any kind. Other schemas without a type are not visible to expressions.
      return schema.wire?.go === 'runtime.RawExtension' ? declaredUnknown : undefined;
  }
}

function declareList({ items, maxItems }: Schema): DeclaredSchema | undefined {
  const element = items && declareSchema(items);
  if (element === undefined) return undefined;
  const maxElements = atLeastZero(maxItems) ?? Math.floor((maxRequestBytes - 2) / (element.minSize + 1));
  return { element, maxElements, minSize: smallest.container };
}

function declareMap({ maxProperties }: Schema, values: Schema): DeclaredSchema | undefined {
  const element = declareSchema(values);
  if (element === undefined) return undefined;
  // A member needs quotes, a colon, a comma and at least one character of a key.
  const maxElements = atLeastZero(maxProperties) ?? Math.floor((maxRequestBytes - 2) / (element.minSize + 6));
  return { key: declaredKey, element, maxElements, minSize: smallest.container };
}

function declareObject({ properties, required = [] }: Schema): DeclaredSchema {
  const fields = new Map<string, DeclaredSchema>();
  const needed = new Set(required);
  let minSize = smallest.container;
  for (const [name, property] of properties ?? []) {
    const declared = declareSchema(property);
    if (declared === undefined) continue;
    const escaped = escapeField(name);
    if (escaped !== undefined) fields.set(escaped, declared);
    if (needed.has(name) && (property.default ?? null) === null) {
      minSize += Buffer.byteLength(name) + declared.minSize + 4;
    }
  }
  return { fields, maxElements: 0, minSize };
}

function declareText(schema: Schema): DeclaredSchema {
  switch (schema.wire?.go === 'v1.MicroTime' ? 'date-time' : schema.format) {
    case 'byte':
      return scalar(bytes, smallest.text, atLeastZero(schema.maxLength) ?? anyText);
    case 'duration':
      return scalar(duration, smallest.duration, durationText);
    case 'date':
      return scalar(timestamp, smallest.date, dateText);
    case 'date-time':
      return scalar(timestamp, smallest.time, timeText);
    default:
      return scalar(string, smallest.text, textLimit(schema) ?? longestOf(schema.enum) ?? anyText);
  }
}

/** Returns the maximum size of a text in bytes. A code point has up to four bytes. */
function textLimit({ maxLength }: Schema): number | undefined {
  const most = atLeastZero(maxLength);
  return most === undefined ? undefined : most * 4;
}

const atLeastZero = (limit: number | undefined): number | undefined =>
  limit === undefined ? undefined : Math.max(0, limit);

function longestOf(values: readonly Json[] | undefined): number | undefined {
  if (!values?.length) return undefined;
  return values.reduce<number>(
    (most, value) => (typeof value === 'string' ? Math.max(most, Buffer.byteLength(value)) : most),
    0,
  );
}
