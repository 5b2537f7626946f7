import type { Schema } from './schema.js';

/**
 * Makes a question of a test: does it hold for a schema or one within it, outside of junctors? Answers are kept, because
 * objects are many.
 */
export function someSubschema(holds: (schema: Schema) => boolean): (schema: Schema) => boolean {
  const answers = new WeakMap<Schema, boolean>();
  const look = (schema: Schema): boolean => {
    const known = answers.get(schema);
    if (known !== undefined) return known;
    // A schema may contain itself.
    answers.set(schema, false);
    const { items, additionalProperties, properties } = schema;
    const found =
      holds(schema) ||
      (items !== undefined && look(items)) ||
      (typeof additionalProperties === 'object' && look(additionalProperties)) ||
      [...(properties?.values() ?? [])].some(look);
    answers.set(schema, found);
    return found;
  };
  return look;
}
