import type { Json, JsonObject } from '../api/object.js';
import { lazyList } from './lazy-list.js';
import { memberNames } from './member-names.js';
import type { MapValue, Value } from './values.js';

/** JSON as expressions see it where no schema tells them more: whole numbers are `int`, others `double`. */
export function jsonValue(json: Json): Value {
  if (typeof json === 'number') return Number.isSafeInteger(json) ? BigInt(json) : json;
  if (typeof json !== 'object' || json === null) return json;
  return isList(json) ? lazyList(json.length, (at) => jsonValue(json[at] ?? null)) : jsonMap(json);
}

const jsonMap = (json: JsonObject): MapValue => ({
  kind: 'map',
  get size() {
    return memberNames(json).length;
  },
  get: (key) => (typeof key === 'string' && Object.hasOwn(json, key) ? jsonValue(json[key] ?? null) : undefined),
  keys: () => memberNames(json),
});

// Array.isArray does not tell read-only lists from other things.
const isList = (json: Json): json is readonly Json[] => Array.isArray(json);
