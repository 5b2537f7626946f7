import { type Json, type JsonObject, setMember } from '../api/object.js';
import { oncePer } from '../api/once.js';
import { wireShape } from '../schema/go-types.js';
import { presenceOf, zeroOf } from '../schema/presence.js';
import type { Schema } from '../schema/schema.js';

/**
 * Returns the JSON of an empty object, which a created object is compared with: structs and some fields of built-in
 * kinds are always written; an empty custom resource has no members.
 */
export const zeroObject = oncePer(
  (schema: Schema): JsonObject => (schema.wire === undefined ? {} : zeroStruct(schema)),
);

function zeroStruct(schema: Schema): JsonObject {
  const out: Record<string, Json> = {};
  for (const [name, field] of schema.properties ?? []) {
    const presence = presenceOf(field);
    if (presence === 'null') setMember(out, name, null);
    if (presence !== 'always') continue;
    const shape = wireShape(field);
    setMember(out, name, shape === 'struct' ? zeroStruct(field) : zeroOf(shape));
  }
  return out;
}
