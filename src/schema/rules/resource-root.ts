import { oncePer } from '../../api/once.js';
import type { Schema } from '../schema.js';

const text: Schema = { type: 'string' };
const metadata: Schema = {
  type: 'object',
  properties: new Map([
    ['name', text],
    ['generateName', text],
  ]),
};

/**
 * Returns the schema of an object with the members that every object has and expressions may see: `apiVersion`, `kind`,
 * `metadata.name` and `metadata.generateName`. The result is cached by schema.
 */
export const withObjectMembers = oncePer((schema: Schema): Schema => {
  const { properties } = schema;
  const meta = properties?.get('metadata');
  const isComplete =
    properties?.get('kind')?.type === 'string' &&
    properties.get('apiVersion')?.type === 'string' &&
    meta?.type === 'object' &&
    meta.properties?.get('name')?.type === 'string' &&
    meta.properties.get('generateName')?.type === 'string';
  return isComplete
    ? schema
    : {
        ...schema,
        properties: new Map([...(properties ?? []), ['kind', text], ['apiVersion', text], ['metadata', metadata]]),
      };
});
