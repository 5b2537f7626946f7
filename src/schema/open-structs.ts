import { itemsOf, valuesOf, wireShape } from './go-types.js';
import type { Schema } from './schema.js';

const known = new WeakMap<Schema, boolean>();

/**
 * Has a built-in kind members that its schema does not name, and keeps? They have no field numbers, so such a kind
 * cannot travel in protocol buffers without loss.
 */
export function hasOpenStructs(schema: Schema): boolean {
  const answer = known.get(schema);
  if (answer !== undefined) return answer;
  // A schema may contain itself.
  known.set(schema, false);
  const found = look(schema);
  known.set(schema, found);
  return found;
}

function look(schema: Schema): boolean {
  switch (wireShape(schema)) {
    case 'struct':
      return schema.preserveUnknownFields === true || [...(schema.properties?.values() ?? [])].some(hasOpenStructs);
    case 'list':
      return hasOpenStructs(itemsOf(schema));
    case 'map':
      return hasOpenStructs(valuesOf(schema));
    default:
      return false;
  }
}
