import type { JsonObject } from '../api/object.js';
import { oncePer } from '../api/once.js';
import type { Steps } from '../api/steps.js';
import { omitsEmpty } from '../schema/presence.js';
import type { Schema } from '../schema/schema.js';
import { checkShape, joinErrors } from './check.js';
import { shapeOfObject } from './shape.js';

/**
 * Returns why an object does not fit its schema, so that it cannot be compared field by field, in the words of
 * Kubernetes; undefined if it fits.
 */
export function* schemaMismatch(schema: Schema, object: JsonObject): Steps<string | undefined> {
  if (isBuiltIn(schema) && !mayLackKeys(schema)) return undefined;
  const errors = yield* checkShape(shapeOfObject(schema), object, { duplicates: true });
  return errors.length === 0 ? undefined : joinErrors(errors);
}

/** Whether the schema is of a built-in kind, whose decoded objects always fit except for missing keys. */
export const isBuiltIn = ({ wire }: Schema): boolean => wire !== undefined;

/** Whether a kind has a map list whose keys are all omitted when empty. */
const mayLackKeys = oncePer((kind: Schema): boolean => hasKeylessItems(kind, new Set()));

/** Implements `mayLackKeys`. `seen` is needed because schemas may contain themselves. */
function hasKeylessItems(schema: Schema, seen: Set<Schema>): boolean {
  if (seen.has(schema)) return false;
  seen.add(schema);
  const { items, additionalProperties, properties, listType, listMapKeys = [] } = schema;
  const mayLack = (key: string): boolean => {
    const field = items?.properties?.get(key);
    return field !== undefined && field.default === undefined && omitsEmpty(field);
  };
  if (listType === 'map' && listMapKeys.every(mayLack)) return true;
  const parts = [...(properties?.values() ?? []), items, additionalProperties];
  return parts.some((part) => typeof part === 'object' && hasKeylessItems(part, seen));
}
