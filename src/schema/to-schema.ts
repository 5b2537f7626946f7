import type { SchemaProps } from './json-schema-props.js';
import type { Schema } from './schema.js';

const alike = [
  'format',
  'title',
  'description',
  'required',
  'nullable',
  'default',
  'enum',
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'example',
  'externalDocs',
  'listMapKeys',
  'embeddedResource',
  'intOrString',
  'validations',
] as const satisfies readonly (keyof SchemaProps & keyof Schema)[];

/** The schema that the rest of the server works with. Keywords that cannot be structural are left out. */
export function toSchema(props: SchemaProps): Schema {
  const { type, listType, mapType, items, allOf, anyOf, oneOf, not, properties, additionalProperties } = props;
  const kept: Partial<Record<(typeof alike)[number], unknown>> = {};
  for (const name of alike) if (props[name] !== undefined) kept[name] = props[name];
  return {
    ...(kept as Schema),
    // A type that nobody knows is kept: no default has it.
    ...(type === undefined ? {} : { type: type as NonNullable<Schema['type']> }),
    ...(properties && properties.size > 0
      ? { properties: new Map([...properties].map(([name, inner]) => [name, toSchema(inner)])) }
      : {}),
    ...(additionalProperties
      ? {
          additionalProperties: additionalProperties.schema
            ? toSchema(additionalProperties.schema)
            : additionalProperties.allows,
        }
      : {}),
    ...(items?.schema ? { items: toSchema(items.schema) } : {}),
    ...(allOf ? { allOf: allOf.map(toSchema) } : {}),
    ...(anyOf ? { anyOf: anyOf.map(toSchema) } : {}),
    ...(oneOf ? { oneOf: oneOf.map(toSchema) } : {}),
    ...(not ? { not: toSchema(not) } : {}),
    ...(listType === 'atomic' || listType === 'set' || listType === 'map' ? { listType } : {}),
    ...(mapType === 'granular' || mapType === 'atomic' ? { mapType } : {}),
    ...(props.preserveUnknownFields ? { preserveUnknownFields: true } : {}),
  };
}
