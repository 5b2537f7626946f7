import { GrowingMap } from '../collections.js';
import type { Library } from '../functions.js';
import { mapOf, parameter } from '../types.js';
import { Failure, type MapValue, type Value } from '../values.js';
import { global } from './declarations.js';
import { valueText } from './value-text.js';

/**
 * The functions that `transformMap` and `transformMapEntry` expand to: adding one entry, or all entries of another map.
 */
const k = parameter('K');
const v = parameter('V');
const mapKToV = mapOf(k, v);

function inserted(map: MapValue, key: Value, value: Value): Value {
  const growing = map instanceof GrowingMap ? map : new GrowingMap(map);
  return growing.insert(key, value) ? growing : new Failure(`insert failed: key ${valueText(key)} already exists`);
}

function merged(map: MapValue, other: MapValue): Value {
  let result: Value = map;
  for (const key of other.keys()) {
    result = inserted(result as MapValue, key, other.get(key) ?? null);
    if (result instanceof Failure) return result;
  }
  return result;
}

export const mapInsert: Library = {
  functions: [
    {
      name: 'cel.@mapInsert',
      overloads: [
        global('@mapInsert_map_key_value', [mapKToV, k, v], mapKToV, inserted),
        global('@mapInsert_map_map', [mapKToV, mapKToV], mapKToV, merged),
      ],
    },
  ],
};
