import type { SchemaProps } from './json-schema-props.js';
import { plainKeywords, type Schema } from './schema.js';

const alike = [
  ...plainKeywords,
  'listMapKeys',
  'embeddedResource',
  'intOrString',
  'validations',
] as const satisfies readonly (keyof SchemaProps & keyof Schema)[];

/**
 * Returns the schema that the rest of the server works with. Keywords that are not allowed in structural schemas are
 * left out.
 */
export function toSchema(props: SchemaProps): Schema {
  const { listType, mapType, items, allOf, anyOf, oneOf, not, properties, additionalProperties } = props;
  const shared: Partial<Record<(typeof alike)[number], unknown>> = {};
  for (const name of alike) if (props[name] !== undefined) shared[name] = props[name];
  return {
    // An unknown type is kept; no default can have it.
    ...(shared as Schema),
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
