import { isList, type Json, type JsonObject, member } from '../api/object.js';
import { memberNames } from './member-names.js';
import type { ListValue, MapValue, Value } from './values.js';

/** A list or map that is a view of JSON. */
export interface JsonBacked {
  readonly json: Json;
}

/** Whether a value is a view of JSON, as opposed to one made by the expression. */
export const isJsonBacked = (value: Value): value is Value & JsonBacked =>
  typeof value === 'object' && value !== null && 'json' in value;

/** Returns JSON as expressions see it without a schema: whole numbers are `int`, others `double`. */
export function jsonValue(json: Json): Value {
  if (typeof json === 'number') return Number.isSafeInteger(json) ? BigInt(json) : json;
  if (typeof json !== 'object' || json === null) return json;
  return isList(json) ? new JsonList(json) : new JsonMap(json);
}

/** A list over JSON whose items are converted on demand. */
class JsonList implements ListValue, JsonBacked {
  readonly kind = 'list';
  readonly json: readonly Json[];
  readonly #converted: Value[] = [];

  constructor(json: readonly Json[]) {
    this.json = json;
  }

  get size(): number {
    return this.json.length;
  }

  at(index: number): Value {
    const value = this.#converted[index] ?? jsonValue(this.json[index] ?? null);
    this.#converted[index] = value;
    return value;
  }
}

class JsonMap implements MapValue, JsonBacked {
  readonly kind = 'map';
  readonly json: JsonObject;

  constructor(json: JsonObject) {
    this.json = json;
  }

  get size(): number {
    return memberNames(this.json).length;
  }

  get(key: Value): Value | undefined {
    const value = typeof key === 'string' ? member(this.json, key) : undefined;
    return value === undefined ? undefined : jsonValue(value);
  }

  keys(): readonly string[] {
    return memberNames(this.json);
  }
}
