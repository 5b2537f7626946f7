import { listFrom } from '../collections.js';
import type { Library } from '../functions.js';
import { bool, dyn, int, listOf, mapOf, optionalOf, parameter, string } from '../types.js';
import { Duration, Failure, type ListValue, Optional, Timestamp, Uint, type Value } from '../values.js';
import { sizeOf } from './call-costs.js';
import { declaredOnly, global, member } from './declarations.js';

/**
 * Optional values (cel-go's `optional` library). `_?._`, `_[?_]`, `_[_]`, `or` and `orValue` are declared only for
 * their types: the evaluator implements them specially.
 */
const k = parameter('K');
const v = parameter('V');
const optionalV = optionalOf(v);
const listV = listOf(v);
const mapKToV = mapOf(k, v);

const none = new Optional();
const zeroTime = -62_135_596_800_000_000_000n;

/** Whether the value is the zero value of its type. */
function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0n || value === 0 || value === '') return true;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Duration) return value.nanoseconds === 0n;
  if (value instanceof Timestamp) return value.nanoseconds === zeroTime;
  if (value instanceof Uint8Array) return value.length === 0;
  if (typeof value !== 'object' || !('kind' in value) || value.kind === 'opaque') return false;
  return sizeOf(value) === 0 && !('ofResource' in value && value.ofResource);
}

const makeOptional = (value: Exclude<Value, Failure>): Value => new Optional(value);
const element = (list: ListValue, index: number): Value => {
  if (list.size === 0) return none;
  const value = list.at(index);
  return value instanceof Failure ? value : new Optional(value);
};

function unwrapped(list: ListValue): Value {
  const values: Value[] = [];
  for (let index = 0; index < list.size; index++) {
    const optional = list.at(index);
    if (!(optional instanceof Optional)) return new Failure('value is not optional');
    if (optional.value !== undefined) values.push(optional.value);
  }
  return listFrom(values);
}

export const optionals: Library = {
  functions: [
    { name: 'optional.of', overloads: [global('optional_of', [v], optionalV, makeOptional)] },
    {
      name: 'optional.ofNonZeroValue',
      overloads: [
        global('optional_ofNonZeroValue', [v], optionalV, (value: Exclude<Value, Failure>) =>
          isZero(value) ? none : new Optional(value),
        ),
      ],
    },
    { name: 'optional.none', overloads: [global('optional_none', [], optionalV, () => none)] },
    {
      name: 'value',
      overloads: [
        member('optional_value', [optionalV], v, ({ value }: Optional) =>
          value === undefined ? new Failure('optional.none() dereference') : value,
        ),
      ],
    },
    {
      name: 'hasValue',
      overloads: [member('optional_hasValue', [optionalV], bool, ({ value }: Optional) => value !== undefined)],
    },
    { name: 'or', overloads: [member('optional_or_optional', [optionalV, optionalV], optionalV, declaredOnly)] },
    { name: 'orValue', overloads: [member('optional_orValue_value', [optionalV, v], v, declaredOnly)] },
    { name: '_?._', overloads: [global('select_optional_field', [dyn, string], optionalV, declaredOnly)] },
    {
      name: '_[?_]',
      overloads: [
        global('list_optindex_optional_int', [listV, int], optionalV, declaredOnly),
        global('optional_list_optindex_optional_int', [optionalOf(listV), int], optionalV, declaredOnly),
        global('map_optindex_optional_value', [mapKToV, k], optionalV, declaredOnly),
        global('optional_map_optindex_optional_value', [optionalOf(mapKToV), k], optionalV, declaredOnly),
      ],
    },
    {
      name: '_[_]',
      overloads: [
        global('optional_list_index_int', [optionalOf(listV), int], optionalV, declaredOnly),
        global('optional_map_index_value', [optionalOf(mapKToV), k], optionalV, declaredOnly),
      ],
    },
    { name: 'first', overloads: [member('list_first', [listV], optionalV, (list: ListValue) => element(list, 0))] },
    {
      name: 'last',
      overloads: [member('list_last', [listV], optionalV, (list: ListValue) => element(list, list.size - 1))],
    },
    { name: 'optional.unwrap', overloads: [global('optional_unwrap', [listOf(optionalV)], listV, unwrapped)] },
    { name: 'unwrapOpt', overloads: [member('optional_unwrapOpt', [listOf(optionalV)], listV, unwrapped)] },
  ],
};
