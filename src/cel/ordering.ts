import { Duration, Timestamp, Uint, type Value } from './values.js';

/**
 * Compares two values; negative if the first is less. Numbers of any type are comparable with each other, texts compare
 * by code points, false comes before true; bytes, timestamps and durations are comparable too. Returns undefined if the
 * values have no order (different types, or NaN).
 */
export function compare(a: Value, b: Value): number | undefined {
  if (typeof a === 'bigint' && typeof b === 'bigint') return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === 'string') return typeof b === 'string' ? compareTexts(a, b) : undefined;
  if (typeof a === 'boolean') return typeof b === 'boolean' ? Number(a) - Number(b) : undefined;
  if (a instanceof Timestamp) return b instanceof Timestamp ? compareNumbers(a.nanoseconds, b.nanoseconds) : undefined;
  if (a instanceof Duration) return b instanceof Duration ? compareNumbers(a.nanoseconds, b.nanoseconds) : undefined;
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? Buffer.compare(a, b) : undefined;
  const left = number(a);
  const right = number(b);
  if (left === undefined || right === undefined) return undefined;
  if (typeof left === 'number' && typeof right === 'bigint') return compareDouble(left, right, b);
  if (typeof left === 'bigint' && typeof right === 'number') {
    const order = compareDouble(right, left, a);
    return order === undefined ? undefined : 0 - order;
  }
  return compareNumbers(left, right);
}

/** Whether the value is an int, uint or double. */
export const isNumber = (value: Value): value is bigint | Uint | number => number(value) !== undefined;

const number = (value: Value): bigint | number | undefined =>
  typeof value === 'bigint' || typeof value === 'number' ? value : value instanceof Uint ? value.value : undefined;

function compareNumbers(a: bigint | number, b: bigint | number): number | undefined {
  if (a < b) return -1;
  if (a > b) return 1;
  return Number.isNaN(a) || Number.isNaN(b) ? undefined : 0;
}

/**
 * Compares a double with a whole number, converted to the nearest double as in cel-go: 2^53 + 1 equals 2.0^53. Doubles
 * beyond 64 bits equal no whole number.
 */
function compareDouble(double: number, integer: bigint, value: Value): number | undefined {
  const unsigned = value instanceof Uint;
  if (double < (unsigned ? 0 : -(2 ** 63))) return -1;
  if (double > (unsigned ? 2 ** 64 : 2 ** 63)) return 1;
  return compareNumbers(double, Number(integer));
}

/** Compares texts by code points, where JavaScript compares by surrogates. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  const shorter = Math.min(a.length, b.length);
  for (let index = 0; index < shorter; index++) {
    if (a.charCodeAt(index) === b.charCodeAt(index)) continue;
    // The texts may differ only in the second half of a surrogate pair.
    const start = index > 0 && (a.charCodeAt(index - 1) & 0xfc00) === 0xd800 ? index - 1 : index;
    const left = a.codePointAt(start) as number;
    const right = b.codePointAt(start) as number;
    if (left !== right) return left - right;
    return (a.codePointAt(index) as number) - (b.codePointAt(index) as number);
  }
  return a.length - b.length;
}
