import type { Schema } from './schema.js';

/** The form of a schema on the wire, on which alone decoding, arranging and protobuf switch. */
export type WireShape =
  | 'struct'
  | 'map'
  | 'list'
  | 'string'
  | 'bytes'
  | 'time'
  | 'micro-time'
  | 'quantity'
  | 'int32'
  | 'int64'
  | 'double'
  | 'boolean'
  | 'int-or-string'
  /** Any JSON value. */
  | 'raw'
  /** One of `oneOf`, selected by the type of the JSON value (JSONSchemaPropsOrBool and the like). */
  | 'union';

const formats: Readonly<Record<string, WireShape>> = {
  byte: 'bytes',
  'date-time': 'time',
  'micro-time': 'micro-time',
  quantity: 'quantity',
};

export function wireShape(schema: Schema): WireShape {
  if (schema.format === 'raw-json') return 'raw';
  if (schema.intOrString === true) return 'int-or-string';
  switch (schema.type) {
    case 'object':
      if (schema.properties !== undefined) return 'struct';
      return typeof schema.additionalProperties === 'object' ? 'map' : 'raw';
    case 'array':
      return 'list';
    case 'string':
      return formats[schema.format ?? ''] ?? 'string';
    case 'integer':
      return schema.format === 'int32' ? 'int32' : 'int64';
    case 'number':
      return 'double';
    case 'boolean':
      return 'boolean';
    default:
      return schema.oneOf === undefined ? 'raw' : 'union';
  }
}

const initials = /^(?:api|ca|cel|id|ip|json|uid|url)(?=[A-Z]|s?$)/;

/** Returns the usual Go field name of a member: `apiGroup` is `APIGroup`, `x-kubernetes-map-type` is `XMapType`. */
export const goFieldName = (member: string): string =>
  member === 'metadata'
    ? 'ObjectMeta'
    : member
        .replace(/^\$/, '')
        .replace(/^x-[a-z]+-/, 'x-')
        .replace(initials, (letters) => letters.toUpperCase())
        .replace(/(?:^|-)([a-z])/g, (_, first: string) => first.toUpperCase());

const names: Readonly<Record<Exclude<WireShape, 'list' | 'map'>, string>> = {
  struct: 'struct {}',
  string: 'string',
  bytes: '[]uint8',
  time: 'v1.Time',
  'micro-time': 'v1.MicroTime',
  quantity: 'resource.Quantity',
  int32: 'int32',
  int64: 'int64',
  double: 'float64',
  boolean: 'bool',
  'int-or-string': 'intstr.IntOrString',
  raw: 'interface {}',
  union: 'interface {}',
};

/** Returns the Go type of a value as decoding errors print it: `[]v1.KeyUsage`, `map[string]string`, `int32`. */
export function goType(schema: Schema): string {
  if (schema.wire?.go !== undefined) return schema.wire.go;
  const shape = wireShape(schema);
  if (shape === 'list') return `[]${schema.items === undefined ? 'interface {}' : goType(schema.items)}`;
  if (shape === 'map') return `map[string]${goType(valuesOf(schema))}`;
  return names[shape];
}

/** Returns the bare name of a struct: `ConfigMap` for `v1.ConfigMap`. */
export const structName = (schema: Schema): string => goType(schema).replace(/^.*\./, '');

const anything: Schema = {};

/** Returns the schema of a map's values. */
export const valuesOf = (schema: Schema): Schema =>
  typeof schema.additionalProperties === 'object' ? schema.additionalProperties : anything;

/** Returns the schema of a list's items. */
export const itemsOf = (schema: Schema): Schema => schema.items ?? anything;
