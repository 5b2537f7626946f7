import { isList, isObject, type Json, type JsonObject } from '../api/object.js';
import { goFieldName } from './go-types.js';
import type { ValidationRule } from './schema.js';

/**
 * The schema in a CustomResourceDefinition (JSONSchemaProps of apiextensions/v1), read into a uniform shape: extensions
 * without their prefix, no `null` for absent members, names chosen by users in Maps, and no value of a wrong type. Only
 * keywords of JSONSchemaProps are included.
 */
export interface SchemaProps {
  readonly id?: string;
  readonly schema?: string;
  readonly ref?: string;
  readonly description?: string;
  readonly type?: string;
  readonly nullable?: boolean;
  readonly format?: string;
  readonly title?: string;
  readonly default?: Json;
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly maxLength?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly maxItems?: number;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly multipleOf?: number;
  readonly enum?: readonly Json[];
  readonly maxProperties?: number;
  readonly minProperties?: number;
  readonly required?: readonly string[];
  readonly items?: SchemaOrMany;
  readonly allOf?: readonly SchemaProps[];
  readonly oneOf?: readonly SchemaProps[];
  readonly anyOf?: readonly SchemaProps[];
  readonly not?: SchemaProps;
  readonly properties?: ReadonlyMap<string, SchemaProps>;
  readonly additionalProperties?: SchemaOrBool;
  readonly patternProperties?: ReadonlyMap<string, SchemaProps>;
  readonly dependencies?: ReadonlyMap<string, SchemaOrNames>;
  readonly additionalItems?: SchemaOrBool;
  readonly definitions?: ReadonlyMap<string, SchemaProps>;
  readonly externalDocs?: { readonly description?: string; readonly url?: string };
  readonly example?: Json;
  /** False is kept, because it is an error of its own. */
  readonly preserveUnknownFields?: boolean;
  readonly embeddedResource?: boolean;
  readonly intOrString?: boolean;
  readonly listMapKeys?: readonly string[];
  readonly listType?: string;
  readonly mapType?: string;
  readonly validations?: readonly ValidationRule[];
}

export interface SchemaOrMany {
  readonly schema?: SchemaProps;
  readonly schemas?: readonly SchemaProps[];
}
export interface SchemaOrBool {
  readonly allows: boolean;
  readonly schema?: SchemaProps;
}
export interface SchemaOrNames {
  readonly schema?: SchemaProps;
  readonly property?: readonly string[];
}

/** The type of a keyword's value. */
export type Shape =
  | 'text'
  | 'pointer to text'
  | 'flag'
  | 'pointer to flag'
  | 'integer'
  | 'number'
  | 'json'
  | 'jsons'
  | 'texts'
  | 'schema'
  | 'schemas'
  | 'schemas by name'
  | 'schema or many'
  | 'schema or bool'
  | 'schema or names by name'
  | 'docs'
  | 'rules';

/**
 * A keyword: the name of its member here, in Go and on the wire, and its protobuf number
 * (k8s.io/apiextensions-apiserver).
 */
export interface Keyword {
  readonly member: keyof SchemaProps;
  readonly go: string;
  /** The name on the wire; for extensions without the prefix. */
  readonly wire: string;
  readonly extension?: true;
  readonly number: number;
  readonly shape: Shape;
  readonly description: string;
}

const keyword = (
  number: number,
  member: keyof SchemaProps,
  shape: Shape,
  description: string,
  wire: string = member,
): Keyword => ({ member, go: goFieldName(wire), wire, number, shape, description });
const extension = (
  number: number,
  member: keyof SchemaProps,
  shape: Shape,
  description: string,
  wire: string,
): Keyword => ({
  ...keyword(number, member, shape, description, wire),
  go: `X${goFieldName(member)}`,
  extension: true,
});

/** All keywords, in the order of the server's internal form, which error messages print. */
export const keywords: readonly Keyword[] = [
  keyword(1, 'id', 'text', 'Not supported.'),
  keyword(2, 'schema', 'text', 'Not supported.', '$schema'),
  keyword(3, 'ref', 'pointer to text', 'Not supported.', '$ref'),
  keyword(4, 'description', 'text', 'Description of the value.'),
  keyword(5, 'type', 'text', 'JSON type of the value.'),
  keyword(37, 'nullable', 'flag', 'Whether the value may be null.'),
  keyword(6, 'format', 'text', 'OpenAPI format of the value; unknown formats are ignored.'),
  keyword(7, 'title', 'text', 'Title of the value.'),
  keyword(8, 'default', 'json', 'Value that is set if the field is absent.'),
  keyword(9, 'maximum', 'number', 'Maximum of a number.'),
  keyword(10, 'exclusiveMaximum', 'flag', 'Whether the number must be less than maximum, and not equal to it.'),
  keyword(11, 'minimum', 'number', 'Minimum of a number.'),
  keyword(12, 'exclusiveMinimum', 'flag', 'Whether the number must be greater than minimum, and not equal to it.'),
  keyword(13, 'maxLength', 'integer', 'Maximum length of a string.'),
  keyword(14, 'minLength', 'integer', 'Minimum length of a string.'),
  keyword(15, 'pattern', 'text', 'Regular expression (RE2) that a string must match.'),
  keyword(16, 'maxItems', 'integer', 'Maximum number of items of a list.'),
  keyword(17, 'minItems', 'integer', 'Minimum number of items of a list.'),
  keyword(18, 'uniqueItems', 'flag', 'Not supported.'),
  keyword(19, 'multipleOf', 'number', 'Number of which the value must be a multiple.'),
  keyword(20, 'enum', 'jsons', 'Values that are allowed.'),
  keyword(21, 'maxProperties', 'integer', 'Maximum number of properties of an object.'),
  keyword(22, 'minProperties', 'integer', 'Minimum number of properties of an object.'),
  keyword(23, 'required', 'texts', 'Properties that must be present.'),
  keyword(24, 'items', 'schema or many', 'Schema of the items of a list.'),
  keyword(25, 'allOf', 'schemas', 'Schemas that the value must all match.'),
  keyword(26, 'oneOf', 'schemas', 'Schemas of which the value must match exactly one.'),
  keyword(27, 'anyOf', 'schemas', 'Schemas of which the value must match at least one.'),
  keyword(28, 'not', 'schema', 'Schema that the value must not match.'),
  keyword(29, 'properties', 'schemas by name', 'Schemas of the properties of an object, by name.'),
  keyword(30, 'additionalProperties', 'schema or bool', 'Schema of the properties that are not named in properties.'),
  keyword(31, 'patternProperties', 'schemas by name', 'Not supported.'),
  keyword(32, 'dependencies', 'schema or names by name', 'Not supported.'),
  keyword(33, 'additionalItems', 'schema or bool', 'Not supported.'),
  keyword(34, 'definitions', 'schemas by name', 'Not supported.'),
  keyword(35, 'externalDocs', 'docs', 'Reference to external documentation.'),
  keyword(36, 'example', 'json', 'Example of a value.'),
  extension(
    38,
    'preserveUnknownFields',
    'pointer to flag',
    'Whether fields that the schema does not specify are kept instead of pruned.',
    'preserve-unknown-fields',
  ),
  extension(
    39,
    'embeddedResource',
    'flag',
    'Whether the value is an object with apiVersion, kind and metadata.',
    'embedded-resource',
  ),
  extension(40, 'intOrString', 'flag', 'Whether the value is an integer or a string.', 'int-or-string'),
  extension(41, 'listMapKeys', 'texts', 'Properties that identify the items of a list of type map.', 'list-map-keys'),
  extension(
    42,
    'listType',
    'pointer to text',
    'Type of a list, which determines how it is merged: atomic, set or map.',
    'list-type',
  ),
  extension(
    43,
    'mapType',
    'pointer to text',
    'Type of an object, which determines how it is merged: atomic or granular.',
    'map-type',
  ),
  extension(44, 'validations', 'rules', 'Validation rules in CEL.', 'validations'),
];

/** The members of a validation rule. */
export const ruleMembers: readonly {
  readonly member: keyof ValidationRule;
  readonly number: number;
  readonly pointer?: true;
  readonly flag?: true;
  readonly description: string;
}[] = [
  { member: 'rule', number: 1, description: 'CEL expression that must evaluate to true.' },
  { member: 'message', number: 2, description: 'Message if the rule fails.' },
  {
    member: 'messageExpression',
    number: 3,
    description: 'CEL expression for the message if the rule fails; takes precedence over message.',
  },
  {
    member: 'reason',
    number: 4,
    pointer: true,
    description: 'Reason of the error cause if the rule fails; FieldValueInvalid by default.',
  },
  {
    member: 'fieldPath',
    number: 5,
    description: 'Path of the field that the error is reported for, relative to the rule.',
  },
  {
    member: 'optionalOldSelf',
    number: 6,
    pointer: true,
    flag: true,
    description: 'Whether the rule is also evaluated if there is no old value.',
  },
];

/** The maximum nesting of schemas, so that all later code may use recursion. */
export const maxSchemaDepth = 400;

/** Thrown for a schema that is nested more deeply than `maxSchemaDepth`. */
export class SchemaTooDeep extends Error {
  override readonly name = 'SchemaTooDeep';
  constructor() {
    super(`must not be nested deeper than ${maxSchemaDepth} levels`);
  }
}

type ReadKeyword = (value: Json, read: (value: Json) => SchemaProps | undefined) => unknown;
const ofType =
  (type: 'string' | 'boolean'): ReadKeyword =>
  (value) =>
    typeof value === type ? value : undefined;
/** Reads a limit. Limits are floats in Go, however they are written. */
const double: ReadKeyword = (value) =>
  typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
const nonEmptyText: ReadKeyword = (value) => (typeof value === 'string' && value !== '' ? value : undefined);
const setFlag: ReadKeyword = (value) => (value === true ? true : undefined);
const json: ReadKeyword = (value) => (value === null ? undefined : value);
const texts: ReadKeyword = (value) =>
  isList(value) && value.length > 0 ? value.filter((item): item is string => typeof item === 'string') : undefined;
const schema: ReadKeyword = (value, read) => read(value);
const schemas: ReadKeyword = (value, read) =>
  isList(value) && value.length > 0 ? value.map((item) => read(item) ?? {}) : undefined;
const byName =
  <T>(item: (value: Json, read: (value: Json) => SchemaProps | undefined) => T): ReadKeyword =>
  (value, read) =>
    isObject(value) ? new Map(Object.keys(value).map((name) => [name, item(value[name] ?? null, read)])) : undefined;
const schemaOrMany: ReadKeyword = (value, read) =>
  isList(value) ? { schemas: value.map((item) => read(item) ?? {}) } : isObject(value) ? { schema: read(value) } : {};
const schemaOrBool: ReadKeyword = (value, read) =>
  typeof value === 'boolean' ? { allows: value } : isObject(value) ? { allows: true, schema: read(value) } : undefined;
const schemaOrNames = (value: Json, read: (value: Json) => SchemaProps | undefined): unknown =>
  isObject(value) ? { schema: read(value) } : { property: texts(value, read) ?? [] };
const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
const docs: ReadKeyword = (value) =>
  isObject(value)
    ? Object.fromEntries(['description', 'url'].flatMap((name) => (text(value[name]) ? [[name, value[name]]] : [])))
    : undefined;
const rules: ReadKeyword = (value) =>
  isList(value) && value.length > 0 ? value.map((item) => rule(isObject(item) ? item : {})) : undefined;

function rule(value: JsonObject): ValidationRule {
  const { message, messageExpression, reason, fieldPath, optionalOldSelf } = value;
  return {
    rule: text(value['rule']),
    ...(typeof message === 'string' && message !== '' ? { message } : {}),
    ...(typeof messageExpression === 'string' && messageExpression !== '' ? { messageExpression } : {}),
    ...(typeof reason === 'string' ? { reason } : {}),
    ...(typeof fieldPath === 'string' && fieldPath !== '' ? { fieldPath } : {}),
    ...(typeof optionalOldSelf === 'boolean' ? { optionalOldSelf } : {}),
  };
}

const readers: Readonly<Record<Shape, ReadKeyword>> = {
  text: nonEmptyText,
  'pointer to text': ofType('string'),
  flag: setFlag,
  'pointer to flag': ofType('boolean'),
  integer: double,
  number: double,
  json,
  jsons: (value) => (isList(value) && value.length > 0 ? value : undefined),
  texts,
  schema,
  schemas,
  'schemas by name': byName((value, read) => read(value) ?? {}),
  'schema or many': schemaOrMany,
  'schema or bool': schemaOrBool,
  'schema or names by name': byName(schemaOrNames),
  docs,
  rules,
};

/** Returns the wire names of a keyword; extensions have one for each prefix. */
export const wireNames = (of: Keyword, prefixes: readonly string[]): readonly string[] =>
  of.extension ? prefixes.map((prefix) => prefix + of.wire) : [of.wire];

/**
 * Reads a schema. A value that is not an object becomes the empty schema; members of a wrong type are left out. Throws
 * SchemaTooDeep.
 */
export function readSchemaProps(value: Json | undefined, prefixes: readonly string[]): SchemaProps {
  const known = new Map(keywords.flatMap((of) => wireNames(of, prefixes).map((name) => [name, of] as const)));
  const read =
    (depth: number) =>
    (node: Json): SchemaProps | undefined => {
      if (!isObject(node)) return undefined;
      if (depth > maxSchemaDepth) throw new SchemaTooDeep();
      const out: Partial<Record<keyof SchemaProps, unknown>> = {};
      const deeper = read(depth + 1);
      for (const name of Object.keys(node)) {
        const of = known.get(name);
        if (of === undefined) continue;
        const found = readers[of.shape](node[name] ?? null, deeper);
        if (found !== undefined) out[of.member] = found;
      }
      // The readers of the table give each member its type.
      return out as SchemaProps;
    };
  return (value === undefined ? undefined : read(1)(value)) ?? {};
}

/** Calls `visit` for a schema and every schema within it, outer ones first. */
export function everySchema(of: SchemaProps | undefined, visit: (schema: SchemaProps) => void): void {
  if (of === undefined) return;
  visit(of);
  for (const inner of innerSchemas(of)) everySchema(inner, visit);
}

/** Returns the direct subschemas, in the order in which the server walks them. */
function innerSchemas(of: SchemaProps): readonly SchemaProps[] {
  return [
    ...(of.items?.schema ? [of.items.schema] : []),
    ...(of.items?.schemas ?? []),
    ...(of.allOf ?? []),
    ...(of.anyOf ?? []),
    ...(of.oneOf ?? []),
    ...(of.not ? [of.not] : []),
    ...(of.properties?.values() ?? []),
    ...(of.additionalProperties?.schema ? [of.additionalProperties.schema] : []),
    ...(of.patternProperties?.values() ?? []),
    ...(of.additionalItems?.schema ? [of.additionalItems.schema] : []),
    ...(of.definitions?.values() ?? []),
    ...[...(of.dependencies?.values() ?? [])].flatMap(({ schema: inner }) => (inner ? [inner] : [])),
  ];
}

/** Whether a schema, or any schema within it, satisfies the test. */
export function hasSchema(of: SchemaProps | undefined, test: (schema: SchemaProps) => boolean): boolean {
  if (of === undefined) return false;
  return test(of) || innerSchemas(of).some((inner) => hasSchema(inner, test));
}
