import type { Schema } from './schema.js';

/**
 * Returns a predicate: whether the test holds for a schema or any schema within it, outside of junctors. Results are
 * cached by schema.
 */
export function someSubschema(holds: (schema: Schema) => boolean): (schema: Schema) => boolean {
  const answers = new WeakMap<Schema, boolean>();
  const search = (schema: Schema): boolean => {
    const known = answers.get(schema);
    if (known !== undefined) return known;
    // A schema may contain itself.
    answers.set(schema, false);
    const { items, additionalProperties, properties } = schema;
    const found =
      holds(schema) ||
      (items !== undefined && search(items)) ||
      (typeof additionalProperties === 'object' && search(additionalProperties)) ||
      [...(properties?.values() ?? [])].some(search);
    answers.set(schema, found);
    return found;
  };
  return search;
}
