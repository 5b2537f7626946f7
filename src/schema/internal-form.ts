import { type Json, type JsonObject, setMember } from '../api/object.js';
import { sortedNames } from '../api/text-order.js';
import { goFieldName } from './go-types.js';
import {
  keywords,
  ruleMembers,
  type SchemaOrBool,
  type SchemaOrMany,
  type SchemaOrNames,
  type SchemaProps,
  type Shape,
} from './json-schema-props.js';
import type { ValidationRule } from './schema.js';
import { sortByBytes, sortDeep } from './sort-members.js';

const zeros: Partial<Record<Shape, Json>> = { text: '', flag: false };

/** Returns the internal form of a schema, which some error messages print: with Go's names, and unset members included. */
export function internalForm(of: SchemaProps | undefined): Json {
  if (of === undefined) return null;
  return Object.fromEntries(
    keywords.map(({ member, go, shape }) => {
      const value = of[member];
      return [go, value === undefined ? (zeros[shape] ?? null) : internalValue(shape, value)];
    }),
  );
}

const record = (entries: readonly (readonly [string, Json])[]): JsonObject => {
  const out: Record<string, Json> = {};
  for (const [name, value] of entries) setMember(out, name, value);
  return out;
};

function internalValue(shape: Shape, value: unknown): Json {
  // Each shape determines the type of its value; see the table of keywords.
  if (shape === 'schema') return internalForm(value as SchemaProps);
  if (shape === 'schemas') return (value as readonly SchemaProps[]).map(internalForm);
  if (shape === 'schemas by name') {
    const map = value as ReadonlyMap<string, SchemaProps>;
    return map.size === 0 ? null : record(sortedNames(map).map((name) => [name, internalForm(map.get(name))]));
  }
  if (shape === 'schema or many') {
    const { schema: one, schemas: many } = value as SchemaOrMany;
    return { Schema: internalForm(one), JSONSchemas: many?.map(internalForm) ?? null };
  }
  if (shape === 'schema or bool') {
    const { allows, schema: one } = value as SchemaOrBool;
    return { Allows: allows, Schema: internalForm(one) };
  }
  if (shape === 'schema or names by name') {
    const map = value as ReadonlyMap<string, SchemaOrNames>;
    return record(
      sortedNames(map).map((name) => [
        name,
        { Schema: internalForm(map.get(name)?.schema), Property: map.get(name)?.property ?? null },
      ]),
    );
  }
  if (shape === 'docs') {
    const { description = '', url = '' } = value as NonNullable<SchemaProps['externalDocs']>;
    return { Description: description, URL: url };
  }
  if (shape === 'rules') return (value as readonly ValidationRule[]).map(internalRule);
  // Defaults, examples and enum values are maps in Go, so that the order of their members is lost.
  return sortByBytes(sortDeep(value as Json));
}

/** Returns the internal form of a rule as error messages print it. */
export const internalRule = (of: ValidationRule): JsonObject =>
  Object.fromEntries(
    ruleMembers.map(({ member, pointer }) => [goFieldName(member), of[member] ?? (pointer ? null : '')]),
  );
