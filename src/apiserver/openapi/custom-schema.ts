import { type Json, type JsonObject, setMember } from '../../api/object.js';
import { plainKeywords, type Schema } from '../../schema/schema.js';
import type { Dialect } from './dialect.js';

/** Publishes schemas of custom resources: complete in OpenAPI 3, and in OpenAPI 2 as far as its clients can read them. */
export interface CustomSchemaOptions {
  readonly dialect: Dialect;
  /** The prefix of extensions. */
  readonly prefix: string;
  /** Returns the reference to ObjectMeta. */
  metadata(more: JsonObject): JsonObject;
}

/** Descriptions of the members of embedded resources. */
const embeddedTexts = {
  apiVersion:
    'apiVersion defines the versioned schema of this representation of an object. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources',
  kind: 'kind is a string value representing the type of this object. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds',
  metadata:
    "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
};

const extensions = [
  ['preserveUnknownFields', 'preserve-unknown-fields'],
  ['embeddedResource', 'embedded-resource'],
  ['intOrString', 'int-or-string'],
  ['listMapKeys', 'list-map-keys'],
  ['listType', 'list-type'],
  ['mapType', 'map-type'],
  ['validations', 'validations'],
] as const satisfies readonly (readonly [keyof Schema, string])[];

export function customSchema(source: Schema, options: CustomSchemaOptions): JsonObject {
  const schema = options.dialect.version === 2 ? forV2(source) : unfolded(source);
  const out: Record<string, Json> = {};
  for (const name of plainKeywords) {
    const value = schema[name];
    // An empty list of required members is left out.
    if (value !== undefined && !(name === 'required' && schema.required?.length === 0)) out[name] = value as Json;
  }
  const inner = (each: Schema): JsonObject => customSchema(each, options);
  if (schema.properties?.size) {
    const properties: Record<string, Json> = {};
    for (const [name, each] of schema.properties) setMember(properties, name, inner(each));
    out['properties'] = properties;
  }
  const { items, additionalProperties, not } = schema;
  if (items !== undefined) out['items'] = inner(items);
  if (additionalProperties !== undefined) {
    out['additionalProperties'] =
      typeof additionalProperties === 'boolean' ? additionalProperties : inner(additionalProperties);
  }
  for (const junctor of ['allOf', 'anyOf', 'oneOf'] as const) {
    const alternatives = schema[junctor];
    if (alternatives !== undefined) out[junctor] = alternatives.map(inner);
  }
  if (not !== undefined) out['not'] = inner(not);
  for (const [member, name] of extensions) {
    const value = schema[member];
    if (value !== undefined && value !== false) out[options.prefix + name] = value as unknown as Json;
  }
  const [key, ...others] = schema.listMapKeys ?? [];
  if (schema.listType === 'map' && key !== undefined && others.length === 0) {
    out[`${options.prefix}patch-merge-key`] = key;
  }
  return schema.embeddedResource === true && !(options.dialect.version === 2 && schema.preserveUnknownFields === true)
    ? embedded(out, schema, options)
    : out;
}

/** Adds the type and metadata of an embedded resource, and requires the type. */
function embedded(out: JsonObject, schema: Schema, options: CustomSchemaOptions): JsonObject {
  const required = schema.required ?? [];
  return {
    ...out,
    properties: {
      ...((out['properties'] as JsonObject | undefined) ?? {}),
      apiVersion: { description: embeddedTexts.apiVersion, type: 'string' },
      kind: { description: embeddedTexts.kind, type: 'string' },
      metadata: options.metadata({ description: embeddedTexts.metadata }),
    },
    required: [...required, ...['kind', 'apiVersion'].filter((name) => !required.includes(name))],
  };
}

const eitherType: readonly Schema[] = [{ type: 'integer' }, { type: 'string' }];
const isIntOrStringUnion = (anyOf: readonly Schema[] | undefined): boolean =>
  anyOf?.length === 2 &&
  anyOf.every((each, at) => each.type === eitherType[at]?.type && Object.keys(each).length === 1);

/** Adds `anyOf` to an `int-or-string` schema, which states its meaning in JSON Schema. */
function unfolded(schema: Schema): Schema {
  if (schema.intOrString !== true || isIntOrStringUnion(schema.anyOf) || isIntOrStringUnion(schema.allOf?.[0]?.anyOf))
    return schema;
  return schema.anyOf === undefined
    ? { ...schema, anyOf: eitherType }
    : { ...schema, allOf: [{ anyOf: eitherType }, ...(schema.allOf ?? [])] };
}

/** Removes what clients of OpenAPI 2 cannot read: junctors, null, members beside unknown ones, defaults. */
function forV2(schema: Schema): Schema {
  const { allOf: _all, anyOf: _any, oneOf: _one, not: _not, default: _default, nullable, ...rest } = schema;
  const { type, items, properties, required, ...bare } = rest;
  const open = nullable === true || schema.preserveUnknownFields === true;
  const untyped =
    nullable === true ||
    (schema.preserveUnknownFields === true && type === 'object') ||
    (type === 'array' && (open || items === undefined));
  const isNullable = (name: string): boolean => properties?.get(name)?.nullable === true;
  const values = schema.additionalProperties;
  const requiredNames =
    typeof values === 'object' && values.nullable === true
      ? []
      : (required ?? []).filter((name) => open || !isNullable(name));
  return {
    ...bare,
    ...(type === undefined || untyped ? {} : { type }),
    ...(items === undefined || open ? {} : { items }),
    ...(properties === undefined || open ? {} : { properties }),
    ...(requiredNames.length === 0 ? {} : { required: requiredNames }),
  };
}
