import { isList, isObject, type Json, type JsonObject } from '../api/object.js';
import { oncePer } from '../api/once.js';
import { itemsOf, valuesOf, wireShape } from './go-types.js';
import { isEmpty, presenceOf } from './presence.js';
import type { Schema } from './schema.js';

/**
 * Returns the value as a round trip through protocol buffers would: they do not distinguish an empty list or map from
 * an absent one, so that an empty one that is always written becomes null. Others are omitted when empty anyway.
 */
export function withoutEmpty(schema: Schema, value: JsonObject): JsonObject {
  const forget = forgetterOf(schema);
  return forget === undefined ? value : (forget(value) as JsonObject);
}

type DropEmpty = (value: Json) => Json;

/**
 * Returns the function that `withoutEmpty` applies; undefined if the schema has no member that is written even when
 * empty. No schema of a kind that is stored in protobuf contains itself.
 */
const forgetterOf = oncePer(compile);

function compile(schema: Schema): DropEmpty | undefined {
  const shape = wireShape(schema);
  if (shape === 'struct') return inStruct(schema);
  if (shape === 'list') {
    const forget = forgetterOf(itemsOf(schema));
    return forget && ((value) => (isList(value) ? value.map(forget) : value));
  }
  if (shape !== 'map') return undefined;
  const forget = forgetterOf(valuesOf(schema));
  return forget && ((value) => (isObject(value) ? mapMembers(value, forget) : value));
}

const mapMembers = (value: JsonObject, forget: DropEmpty): JsonObject =>
  Object.fromEntries(Object.entries(value).map(([name, member]) => [name, forget(member)]));

function inStruct(schema: Schema): DropEmpty | undefined {
  const members = [...(schema.properties ?? [])].flatMap(([name, of]) => {
    const shape = wireShape(of);
    const forget = forgetterOf(of);
    if (presenceOf(of) !== 'always' || (shape !== 'list' && shape !== 'map')) {
      return forget === undefined ? [] : [{ name, forget }];
    }
    return [{ name, forget: (value: Json) => (isEmpty(value) ? null : (forget?.(value) ?? value)) }];
  });
  if (members.length === 0) return undefined;
  return (value) => {
    if (!isObject(value)) return value;
    const out: Record<string, Json> = { ...value };
    for (const { name, forget } of members) {
      const member = value[name];
      if (member !== undefined) out[name] = forget(member);
    }
    return out;
  };
}
