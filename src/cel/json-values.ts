import { isList, type Json, type JsonObject, member } from '../api/object.js';
import { memberNames } from './member-names.js';
import type { ListValue, MapValue, Value } from './values.js';

/** What an expression sees of JSON that has no other form. */
export interface Plain {
  readonly plain: Json;
}

/** JSON as expressions see it where no schema tells them more: whole numbers are `int`, others `double`. */
export function jsonValue(json: Json): Value {
  if (typeof json === 'number') return Number.isSafeInteger(json) ? BigInt(json) : json;
  if (typeof json !== 'object' || json === null) return json;
  return isList(json) ? new JsonList(json) : new JsonMap(json);
}

/** Its items are made when they are looked at. */
class JsonList implements ListValue, Plain {
  readonly kind = 'list';
  readonly plain: readonly Json[];
  readonly #made: Value[] = [];

  constructor(json: readonly Json[]) {
    this.plain = json;
  }

  get size(): number {
    return this.plain.length;
  }

  at(index: number): Value {
    const made = this.#made[index] ?? jsonValue(this.plain[index] ?? null);
    this.#made[index] = made;
    return made;
  }
}

class JsonMap implements MapValue, Plain {
  readonly kind = 'map';
  readonly plain: JsonObject;

  constructor(json: JsonObject) {
    this.plain = json;
  }

  get size(): number {
    return memberNames(this.plain).length;
  }

  get(key: Value): Value | undefined {
    const value = typeof key === 'string' ? member(this.plain, key) : undefined;
    return value === undefined ? undefined : jsonValue(value);
  }

  keys(): readonly string[] {
    return memberNames(this.plain);
  }
}
