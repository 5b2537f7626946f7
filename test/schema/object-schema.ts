import type { Schema } from '../../src/schema/schema.js';

/** Returns the schema of an object with these properties. */
export const object = (properties: Record<string, Schema>, more: Partial<Schema> = {}): Schema => ({
  type: 'object',
  properties: new Map(Object.entries(properties)),
  ...more,
});
