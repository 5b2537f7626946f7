import { isInt64 } from '../../api/go-integers.js';
import { joined, listContains } from '../collections.js';
import { type EstimateCall, perByte } from '../cost.js';
import type { FunctionDeclaration, Library, Overload } from '../functions.js';
import { compare, isNumber } from '../ordering.js';
import { scaled, times } from '../ranges.js';
import { indexOf } from '../text-search.js';
import {
  bool,
  bytes,
  double,
  duration,
  int,
  listOf,
  mapOf,
  parameter,
  string,
  type Type,
  timestamp,
  uint,
} from '../types.js';
import { Failure, type ListValue, type MapValue, Uint, type Value } from '../values.js';
import { matching, sizeEstimate, sizeOf, traversal } from './call-costs.js';
import { conversions } from './conversions.js';
import { type Costs, declaredOnly, global, member } from './declarations.js';
import { expressionFor } from './regex.js';
import { longerDuration, longerTimestamp, timeBetween, timeFunctions } from './timestamps.js';

/**
 * The standard definitions (cel-spec "List of Standard Definitions"). `_&&_`, `_||_`, `_?_:_`, `_==_`, `_!=_` and
 * `_[_]` are declared only for their types: the evaluator implements them specially.
 */
const a = parameter('A');
const b = parameter('B');
const listOfA = listOf(a);
const mapOfAToB = mapOf(a, b);

/** Returns the result as an int or uint, or a failure on overflow. */
const intOf = (value: bigint): Value => (isInt64(value) ? value : new Failure('integer overflow'));
const uintOf = (value: bigint): Value =>
  BigInt.asUintN(64, value) === value ? new Uint(value) : new Failure('unsigned integer overflow');

/** The cost of traversing both texts. */
const bothTexts: Costs = { cost: ([left, right]) => traversal(sizeOf(left) + sizeOf(right)) };
/** Estimates a comparison, which traverses as much as the smaller operand has. */
const comparing: EstimateCall = (_, [left, right]) => {
  const max = Math.min(sizeEstimate(left).max, sizeEstimate(right).max);
  return { cost: scaled({ min: max > 0 ? 1 : 0, max }, perByte) };
};
/** The costs of traversing the shorter text. */
const shorter: Costs = {
  cost: ([left, right]) => traversal(Math.min(sizeOf(left), sizeOf(right))),
  estimate: comparing,
};
/**
 * The costs of `startsWith` and `endsWith`: the text is traversed; as in cel-go, the estimate uses the size of the
 * prefix or suffix.
 */
const edge: Costs = {
  cost: ([text]) => traversal(sizeOf(text)),
  estimate: (_, [part]) => ({ cost: scaled(sizeEstimate(part), perByte) }),
};

const arithmetic: readonly FunctionDeclaration[] = [
  {
    name: '_+_',
    overloads: [
      global('add_bytes', [bytes, bytes], bytes, (x: Uint8Array, y: Uint8Array) => Buffer.concat([x, y]), bothTexts),
      global('add_double', [double, double], double, (x: number, y: number) => x + y),
      global('add_duration_duration', [duration, duration], duration, longerDuration(1n)),
      global('add_duration_timestamp', [duration, timestamp], timestamp, (by, moment) =>
        longerTimestamp(1n)(moment, by),
      ),
      global('add_timestamp_duration', [timestamp, duration], timestamp, longerTimestamp(1n)),
      global('add_int64', [int, int], int, (x: bigint, y: bigint) => intOf(x + y)),
      global('add_list', [listOfA, listOfA], listOfA, (x: ListValue, y: ListValue) => joined(x, y)),
      global('add_string', [string, string], string, (x: string, y: string) => x + y, bothTexts),
      global('add_uint64', [uint, uint], uint, (x: Uint, y: Uint) => uintOf(x.value + y.value)),
    ],
  },
  {
    name: '_-_',
    overloads: [
      global('subtract_double', [double, double], double, (x: number, y: number) => x - y),
      global('subtract_duration_duration', [duration, duration], duration, longerDuration(-1n)),
      global('subtract_int64', [int, int], int, (x: bigint, y: bigint) => intOf(x - y)),
      global('subtract_timestamp_duration', [timestamp, duration], timestamp, longerTimestamp(-1n)),
      global('subtract_timestamp_timestamp', [timestamp, timestamp], duration, timeBetween),
      global('subtract_uint64', [uint, uint], uint, (x: Uint, y: Uint) => uintOf(x.value - y.value)),
    ],
  },
  {
    name: '_*_',
    overloads: [
      global('multiply_double', [double, double], double, (x: number, y: number) => x * y),
      global('multiply_int64', [int, int], int, (x: bigint, y: bigint) => intOf(x * y)),
      global('multiply_uint64', [uint, uint], uint, (x: Uint, y: Uint) => uintOf(x.value * y.value)),
    ],
  },
  {
    name: '_/_',
    overloads: [
      global('divide_double', [double, double], double, (x: number, y: number) => x / y),
      global('divide_int64', [int, int], int, (x: bigint, y: bigint) => (y === 0n ? byZero : intOf(x / y))),
      global('divide_uint64', [uint, uint], uint, (x: Uint, y: Uint) =>
        y.value === 0n ? byZero : new Uint(x.value / y.value),
      ),
    ],
  },
  {
    name: '_%_',
    overloads: [
      global('modulo_int64', [int, int], int, (x: bigint, y: bigint) =>
        y === 0n ? moduloZero : y === -1n ? remainderOfMinusOne(x) : x % y,
      ),
      global('modulo_uint64', [uint, uint], uint, (x: Uint, y: Uint) =>
        y.value === 0n ? moduloZero : new Uint(x.value % y.value),
      ),
    ],
  },
  {
    name: '-_',
    overloads: [
      global('negate_double', [double], double, (x: number) => -x),
      global('negate_int64', [int], int, (x: bigint) => intOf(-x)),
    ],
  },
];

const byZero = new Failure('division by zero');
const moduloZero = new Failure('modulus by zero');
/**
 * Returns the remainder of a division by -1. The smallest int divided by -1 overflows, so that its remainder is a
 * failure too.
 */
const remainderOfMinusOne = (value: bigint): Value => (intOf(-value) instanceof Failure ? intOf(-value) : 0n);

/** Pairs of comparable types, with their names in overload ids. */
const comparable: readonly (readonly [string, Type, Type, Costs?])[] = [
  ['bool', bool, bool],
  ['int64', int, int],
  ['int64_double', int, double],
  ['int64_uint64', int, uint],
  ['uint64', uint, uint],
  ['uint64_double', uint, double],
  ['uint64_int64', uint, int],
  ['double', double, double],
  ['double_int64', double, int],
  ['double_uint64', double, uint],
  ['string', string, string, shorter],
  ['bytes', bytes, bytes, shorter],
  ['timestamp', timestamp, timestamp],
  ['duration', duration, duration],
];

const comparison = (name: string, id: string, holds: (order: number) => boolean): FunctionDeclaration => {
  const evaluate = (x: Value, y: Value): Value => {
    const order = compare(x, y);
    return order === undefined ? noOrderFailure(x, y) : holds(order);
  };
  return {
    name,
    overloads: comparable.map(([types, x, y, costs]) => global(`${id}_${types}`, [x, y], bool, evaluate, costs)),
  };
};

/** Returns the failure for two values without an order. */
const noOrderFailure = (x: Value, y: Value): Failure =>
  new Failure(isNumber(x) && isNumber(y) ? 'NaN values cannot be ordered' : 'no such overload');

const comparisons: readonly FunctionDeclaration[] = [
  comparison('_<_', 'less', (order) => order < 0),
  comparison('_<=_', 'less_equals', (order) => order <= 0),
  comparison('_>_', 'greater', (order) => order > 0),
  comparison('_>=_', 'greater_equals', (order) => order >= 0),
];

const logic: readonly FunctionDeclaration[] = [
  { name: '_?_:_', overloads: [global('conditional', [bool, a, a], a, declaredOnly)] },
  { name: '_&&_', overloads: [global('logical_and', [bool, bool], bool, declaredOnly)] },
  { name: '_||_', overloads: [global('logical_or', [bool, bool], bool, declaredOnly)] },
  { name: '!_', overloads: [global('logical_not', [bool], bool, (value: boolean) => !value)] },
  { name: '@not_strictly_false', overloads: [global('not_strictly_false', [bool], bool, declaredOnly)] },
  { name: '_==_', overloads: [global('equals', [a, a], bool, declaredOnly, { estimate: comparing })] },
  { name: '_!=_', overloads: [global('not_equals', [a, a], bool, declaredOnly, { estimate: comparing })] },
];

/** Overloads of `size` as a function and as a method. */
const sizes = (
  [
    ['bytes', bytes, (value: Uint8Array) => BigInt(value.length)],
    ['list', listOfA, (value: ListValue) => BigInt(value.size)],
    ['map', mapOfAToB, (value: MapValue) => BigInt(value.size)],
    ['string', string, (value: string) => BigInt(sizeOf(value))],
  ] as const
).flatMap(([name, type, evaluate]): readonly Overload[] => [
  global(`size_${name}`, [type], int, evaluate),
  member(`${name}_size`, [type], int, evaluate),
]);

const collections: readonly FunctionDeclaration[] = [
  {
    name: '_[_]',
    overloads: [
      global('index_list', [listOfA, int], a, declaredOnly),
      global('index_map', [mapOfAToB, a], b, declaredOnly),
    ],
  },
  {
    name: '@in',
    overloads: [
      global('in_list', [a, listOfA], bool, (value: Value, list: ListValue) => listContains(list, value), {
        cost: ([, list]) => sizeOf(list),
        estimate: (_, [, list]) => ({ cost: sizeEstimate(list) }),
      }),
      global('in_map', [a, mapOfAToB], bool, (key: Value, map: MapValue) => {
        const found = map.get(key);
        return found instanceof Failure ? found : found !== undefined;
      }),
    ],
  },
  { name: 'size', overloads: sizes },
];

/** Whether any part of the text matches the pattern (RE2). Refuses a match that would take too long. */
function matches(text: string, pattern: string): Value {
  const expression = expressionFor(text, pattern);
  return expression instanceof Failure ? expression : expression.test(text);
}

const containing: Costs = {
  cost: ([text, part]) => traversal(sizeOf(text)) * traversal(sizeOf(part)),
  estimate: (text, [part]) => ({
    cost: times(scaled(sizeEstimate(text), perByte), scaled(sizeEstimate(part), perByte)),
  }),
};

const texts: readonly FunctionDeclaration[] = [
  {
    name: 'contains',
    overloads: [
      member(
        'contains_string',
        [string, string],
        bool,
        (text: string, part: string) => indexOf(text, part) >= 0,
        containing,
      ),
    ],
  },
  {
    name: 'endsWith',
    overloads: [
      member('ends_with_string', [string, string], bool, (text: string, end: string) => text.endsWith(end), edge),
    ],
  },
  {
    name: 'startsWith',
    overloads: [
      member(
        'starts_with_string',
        [string, string],
        bool,
        (text: string, start: string) => text.startsWith(start),
        edge,
      ),
    ],
  },
  {
    name: 'matches',
    overloads: [
      global('matches', [string, string], bool, matches),
      member('matches_string', [string, string], bool, matches, matching),
    ],
  },
];

export const standard: Library = {
  functions: [...logic, ...arithmetic, ...comparisons, ...collections, ...texts, ...conversions, ...timeFunctions],
};
