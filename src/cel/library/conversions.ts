import { parseBoolean } from '../../api/go-boolean.js';
import { parseDuration } from '../../api/go-duration.js';
import { maxInt64, maxUint64, minInt64 } from '../../api/go-integers.js';
import { strictUtf8 } from '../../api/utf8-text.js';
import { maxCost, perByte } from '../cost.js';
import { spend } from '../effort.js';
import type { FunctionDeclaration } from '../functions.js';
import { scaled } from '../ranges.js';
import { typeOf } from '../runtime-types.js';
import { bool, bytes, double, duration, dyn, int, parameter, string, type Type, timestamp, uint } from '../types.js';
import { Duration, Failure, type Timestamp, Uint, type Value } from '../values.js';
import { sizeEstimate, sizeOf, traversal } from './call-costs.js';
import { type Costs, global } from './declarations.js';
import { floorSeconds, timestampFromText, timestampOf, timestampText } from './timestamps.js';
import { doubleText, durationText } from './value-text.js';

/**
 * Type conversions: `type(...)`, `dyn(...)` and the functions named after the types they return, with cel-go's
 * failures.
 */
const a = parameter('A');
const same = (value: Value): Value => value;
const looking = { cost: ([value]: readonly Value[]): number => traversal(sizeOf(value)) };
/** The costs of text to bytes: a code point has up to four bytes. */
const encoding: Costs = {
  ...looking,
  estimate: (_, [text]) => {
    const size = sizeEstimate(text);
    return { cost: scaled(size, perByte), resultSize: { min: size.min, max: wrapToInt64(size.max * 4) } };
  },
};
const decoding: Costs = {
  ...looking,
  estimate: (_, [argument]) => {
    const size = sizeEstimate(argument);
    return { cost: scaled(size, perByte), resultSize: { min: Math.floor(size.min / 4), max: size.max } };
  },
};
/** Wraps a product to 64 bits; an unlimited size stays unlimited. */
const wrapToInt64 = (product: number): number => (product >= maxCost * 4 ? maxCost : product % maxCost);
const conversionError = (from: string, to: string): Failure =>
  new Failure(`type conversion error from '${from}' to '${to}'`);
const integerOverflow = new Failure('integer overflow');
const unsignedOverflow = new Failure('unsigned integer overflow');

/** Wraps a conversion from text, which costs one unit however long the text is, so that its effort counts. */
const reading =
  (read: (text: string) => Value) =>
  (text: string): Value => {
    spend(text.length >> 5);
    return read(text);
  };

/** Returns the value of the digits, or undefined if it exceeds the limit. Does not convert more digits than needed. */
function digitsValue(digits: string, limit: bigint): bigint | undefined {
  const significant = digits.replace(/^0+/, '');
  if (significant.length > 20) return undefined;
  const value = BigInt(significant === '' ? '0' : significant);
  return value <= limit ? value : undefined;
}

function intFromText(text: string): Value {
  const [, sign, digits] = /^([+-]?)([0-9]+)$/.exec(text) ?? [];
  const size = digits === undefined ? undefined : digitsValue(digits, sign === '-' ? -minInt64 : maxInt64);
  if (size === undefined) return conversionError('string', 'int');
  return sign === '-' ? -size : size;
}

function uintFromText(text: string): Value {
  const value = /^[0-9]+$/.test(text) ? digitsValue(text, maxUint64) : undefined;
  return value === undefined ? conversionError('string', 'uint') : new Uint(value);
}

const decimal = /^[+-]?(?:[0-9_]+(?:\.[0-9_]*)?|\.[0-9_]+)(?:[eE][+-]?[0-9_]+)?$/;
const hexadecimal = /^([+-]?)0[xX]([0-9a-fA-F_]*)(?:\.([0-9a-fA-F_]*))?[pP]([+-]?[0-9_]+)$/;
/** Matches a misplaced underscore: underscores may stand only between digits and after `0x`. */
const misplaced = /(?:^|[^0-9])_|_(?:[^0-9]|$)/;
const misplacedInHexadecimal = /(?:^|[^0-9a-fA-FxX])_|_(?:[^0-9a-fA-F]|$)/;

/**
 * Parses a double as Go does, including `inf`, `NaN`, hexadecimal numbers and underscores; refuses numbers that are too
 * large.
 */
function doubleFromText(text: string): Value {
  if (/^nan$/i.test(text)) return Number.NaN;
  const infinite = /^([+-]?)inf(?:inity)?$/i.exec(text);
  if (infinite !== null) return infinite[1] === '-' ? -Infinity : Infinity;
  const value = decimal.test(text) ? decimalValue(text) : hexadecimalValue(text);
  return value !== undefined && Number.isFinite(value) ? value : conversionError('string', 'double');
}

const withoutUnderscores = (text: string): string => (text.includes('_') ? text.replaceAll('_', '') : text);
const decimalValue = (text: string): number | undefined =>
  text.includes('_') && misplaced.test(text) ? undefined : Number(withoutUnderscores(text));

function hexadecimalValue(text: string): number | undefined {
  const [, sign, integer, part = '', exponent = ''] = hexadecimal.exec(text) ?? [];
  const fraction = withoutUnderscores(part);
  if (integer === undefined || misplacedInHexadecimal.test(text)) return undefined;
  const digits = withoutUnderscores(integer) + fraction;
  if (digits === '') return undefined;
  // Digits beyond the precision of a double only contribute to the magnitude.
  const significant = digits.replace(/^0+/, '');
  const cut = Math.max(0, significant.length - 32);
  const value = Number(BigInt(`0x${significant.slice(0, 32) || '0'}`));
  const scale = Number(withoutUnderscores(exponent)) - 4 * fraction.length + 4 * cut;
  // Scales in two steps: the power alone may overflow a double where the product does not.
  const half = Math.trunc(scale / 2);
  return (sign === '-' ? -value : value) * 2 ** half * 2 ** (scale - half);
}

function textFromBytes(value: Uint8Array): Value {
  try {
    return strictUtf8.decode(value);
  } catch {
    return new Failure('invalid UTF-8 in bytes, cannot convert to string');
  }
}

const durationFromText = (text: string): Value => {
  // A text of many small parts takes longer to parse and to report than another one of the same length.
  if (text.length > 64) spend(20 * text.length);
  const parsed = parseDuration(text);
  return parsed.wrong === undefined
    ? new Duration(parsed.nanoseconds)
    : conversionError('string', 'google.protobuf.Duration');
};

type Conversion = readonly [id: string, from: Type, evaluate: (...values: never[]) => Value, costs?: Costs];
const conversion = (name: string, result: Type, conversions: readonly Conversion[]): FunctionDeclaration => ({
  name,
  overloads: conversions.map(([id, from, evaluate, costs]) => global(id, [from], result, evaluate, costs)),
});

export const conversions: readonly FunctionDeclaration[] = [
  { name: 'type', overloads: [global('type', [a], { kind: 'type', of: a }, typeOf)] },
  { name: 'dyn', overloads: [global('to_dyn', [a], dyn, same)] },
  conversion('bool', bool, [
    ['bool_to_bool', bool, same],
    ['string_to_bool', string, (text: string) => parseBoolean(text) ?? conversionError('string', 'bool')],
  ]),
  conversion('bytes', bytes, [
    ['bytes_to_bytes', bytes, same],
    ['string_to_bytes', string, (text: string) => Buffer.from(text), encoding],
  ]),
  conversion('double', double, [
    ['double_to_double', double, same],
    ['int64_to_double', int, (value: bigint) => Number(value)],
    ['string_to_double', string, reading(doubleFromText)],
    ['uint64_to_double', uint, ({ value }: Uint) => Number(value)],
  ]),
  conversion('duration', duration, [
    ['duration_to_duration', duration, same],
    ['int64_to_duration', int, () => conversionError('int', 'google.protobuf.Duration')],
    ['string_to_duration', string, reading(durationFromText)],
  ]),
  conversion('int', int, [
    ['int64_to_int64', int, same],
    [
      'double_to_int64',
      double,
      (value: number) => (Math.abs(value) < 2 ** 63 ? BigInt(Math.trunc(value)) : integerOverflow),
    ],
    ['duration_to_int64', duration, ({ nanoseconds }: Duration) => nanoseconds],
    ['string_to_int64', string, reading(intFromText)],
    ['timestamp_to_int64', timestamp, ({ nanoseconds }: Timestamp) => floorSeconds(nanoseconds)],
    ['uint64_to_int64', uint, ({ value }: Uint) => (value <= maxInt64 ? value : integerOverflow)],
  ]),
  conversion('string', string, [
    ['string_to_string', string, same],
    ['bool_to_string', bool, String],
    ['bytes_to_string', bytes, textFromBytes, decoding],
    ['double_to_string', double, doubleText],
    ['duration_to_string', duration, durationText],
    ['int64_to_string', int, String],
    ['timestamp_to_string', timestamp, timestampText],
    ['uint64_to_string', uint, ({ value }: Uint) => String(value)],
  ]),
  conversion('timestamp', timestamp, [
    ['timestamp_to_timestamp', timestamp, same],
    ['int64_to_timestamp', int, (seconds: bigint) => timestampOf(seconds * 1_000_000_000n)],
    [
      'string_to_timestamp',
      string,
      reading((text) => timestampFromText(text) ?? conversionError('string', 'google.protobuf.Timestamp')),
    ],
  ]),
  conversion('uint', uint, [
    ['uint64_to_uint64', uint, same],
    [
      'double_to_uint64',
      double,
      (value: number) => (value >= 0 && value < 2 ** 64 ? new Uint(BigInt(Math.trunc(value))) : unsignedOverflow),
    ],
    ['int64_to_uint64', int, (value: bigint) => (value < 0n ? unsignedOverflow : new Uint(value))],
    ['string_to_uint64', string, reading(uintFromText)],
  ]),
];
