import { goFloatText, goInt64, quote } from '../api/go-text.js';
import { compile, maxMatchingCost } from '../api/regular-expression.js';
import type { Steps } from '../api/steps.js';
import { stringFormat } from '../api/string-formats.js';
import { invalid, invalidText, tooLong, typeInvalid, type Violation } from '../api/violations.js';
import type { OldValue } from './ratchet.js';
import type { Schema } from './schema.js';
import type { ValidationState } from './validation-state.js';

/** Validates strings and numbers, with the messages of kube-apiserver. */

/** Records failures and returns the number of checks that succeeded. */
export type Check = (value: unknown, at: ValidationState) => number;

/**
 * Checks a value with everything in it, at once or in steps. Most values are scalars, for which generators would take
 * most of the time.
 */
export type NodeCheck = (value: unknown, at: ValidationState, old: OldValue) => number | Steps<number>;

export type Kind = 'null' | 'boolean' | 'string' | 'integer' | 'number' | 'array' | 'object';

/**
 * Returns the JSON type of a value. Whole numbers within 64 bits are integers; large ones are bigints, and a double of
 * that size is a number, as in Go.
 */
export function kindOf(value: unknown): Kind {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'number';
  if (typeof value === 'bigint') return 'integer';
  if (typeof value === 'string') return 'string';
  return typeof value === 'boolean' ? 'boolean' : 'object';
}

/** Returns the length in code points, which is what limits refer to. */
function codePoints(value: string): number {
  let count = value.length;
  for (let i = 0; i < value.length - 1; i++) {
    const high = value.charCodeAt(i);
    if (high < 0xd800 || high > 0xdbff) continue;
    const low = value.charCodeAt(i + 1);
    if (low >= 0xdc00 && low <= 0xdfff) {
      count--;
      i++;
    }
  }
  return count;
}

export function compileString({ minLength, maxLength, pattern }: Schema, format: string): Check {
  const isFormat = format === '' ? undefined : stringFormat(format);
  const first = (value: string, at: ValidationState): void => {
    if (maxLength !== undefined && value.length > maxLength && codePoints(value) > maxLength) {
      at.fail((path) => tooLong(path, maxLength));
    } else if (minLength !== undefined && (value.length < minLength || codePoints(value) < minLength)) {
      at.fail((path) => invalid(path, value, `${path} in body should be at least ${minLength} chars long`));
    } else if (pattern) {
      const { expression, error } = compile(pattern);
      const cost = expression?.cost(value) ?? 0;
      at.spend(cost / 10);
      if (cost > maxMatchingCost) {
        at.fail((path) => invalid(path, '', `${path} in body is too long to be matched against '${pattern}'`));
        return;
      }
      if (error === undefined && expression.test(value)) return;
      const suffix = error === undefined ? '' : `, but pattern is invalid: ${error}`;
      at.fail((path) => invalid(path, value, `${path} in body should match '${pattern}${suffix}'`));
    }
  };
  return (raw, at) => {
    const value = String(raw);
    first(value, at);
    if (isFormat === undefined) return 1;
    if (!isFormat(value)) {
      at.fail((path) => typeInvalid(path, value, `${path} in body must be of type ${format}: ${quote(value)}`));
    }
    return 2;
  };
}

const badNumber = (path: string, value: number | bigint, detail: string): Violation => invalid(path, value, detail);

/** Returns a violation. A value that is compared with a float is printed as a float. */
const badBeside = (limit: number | bigint, path: string, value: number | bigint, detail: string): Violation =>
  typeof limit === 'bigint' ? badNumber(path, value, detail) : invalidText(path, goFloatText(Number(value)), detail);

/** Whether Go (go-openapi/swag) considers a number whole: if the difference to an integer can be a rounding error. */
export function isNearlyWhole(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
  if (Number.isInteger(value)) return true;
  if (value < 0) return false;
  const integer = Math.trunc(value);
  return integer !== 0 && Math.abs(value - integer) / (value + integer) < 1e-9;
}

/** A limit as a float and as an int64. */
interface Limit {
  readonly float: number;
  readonly whole: bigint;
  readonly inRange: boolean;
}

export function compileNumber(schema: Schema, type: string, format: string): Check {
  const inRange = rangeOf(type, format);
  const limitOf = (float: number | undefined): Limit | undefined =>
    float === undefined ? undefined : { float, whole: goInt64(float), inRange: inRange(float) };
  const multipleOf = limitOf(schema.multipleOf);
  const minimum = limitOf(schema.minimum);
  const maximum = limitOf(schema.maximum);
  const named = `of type ${type}${format === '' ? ' (default format)' : ` with format ${format}`}`;
  const outOfRange = (at: ValidationState, label: string): void => {
    at.failWithoutField((path) => `${label} value must be ${named} in ${path}`);
  };
  /** Returns the limit for a value: for integers its integer part, unless the limit does not fit the type. */
  const limitFor = (value: number | bigint, limit: Limit, at: ValidationState, label: string): number | bigint => {
    if (!limit.inRange) outOfRange(at, label);
    else if (kindOf(value) === 'integer') return limit.whole;
    return limit.float;
  };
  return (raw, at) => {
    const value = typeof raw === 'bigint' ? raw : Number(raw);
    if (!inRange(value)) outOfRange(at, 'Checked');
    if (multipleOf !== undefined) {
      checkMultiple(value, limitFor(value, multipleOf, at, 'MultipleOf'), at);
    }
    if (minimum) {
      const limit = limitFor(value, minimum, at, 'Minimum boundary');
      if (schema.exclusiveMinimum ? value <= limit : value < limit) {
        const than = schema.exclusiveMinimum ? 'greater than' : 'greater than or equal to';
        at.fail((path) => badBeside(limit, path, value, `${path} in body should be ${than} ${limitText(limit)}`));
      }
    }
    if (maximum) {
      const limit = limitFor(value, maximum, at, 'Maximum boundary');
      if (schema.exclusiveMaximum ? value >= limit : value > limit) {
        const than = schema.exclusiveMaximum ? 'less than' : 'less than or equal to';
        at.fail((path) => badBeside(limit, path, value, `${path} in body should be ${than} ${limitText(limit)}`));
      }
    }
    return 1;
  };
}

const limitText = (limit: number | bigint): string => (typeof limit === 'bigint' ? String(limit) : goFloatText(limit));

function checkMultiple(value: number | bigint, factor: number | bigint, at: ValidationState): void {
  if (factor <= 0) {
    at.fail((path) =>
      badNumber(path, factor, `factor MultipleOf declared for ${path} must be positive: ${limitText(factor)}`),
    );
    return;
  }
  if (isMultiple(value, factor)) return;
  at.fail((path) => badBeside(factor, path, value, `${path} in body should be a multiple of ${limitText(factor)}`));
}

function isMultiple(value: number | bigint, factor: number | bigint): boolean {
  if (typeof factor === 'bigint') return BigInt(value) % factor === 0n;
  const number = Number(value);
  return isNearlyWhole(factor < 1 ? (1 / factor) * number : number / factor);
}

const int32 = { min: -(2 ** 31), max: 2 ** 31 - 1 };
/**
 * Whether a float is an int64. The greatest such float is the greatest double below 2^63; 2^63 itself is excluded, with
 * either sign.
 */
const isInt64 = (value: number): boolean => Number.isInteger(value) && Math.abs(value) < 2 ** 63;

/** Returns a check of whether a number fits a numeric type and format. */
function rangeOf(type: string, format: string): (value: number | bigint) => boolean {
  if (type === 'integer' && format === 'int32') {
    return (value) => kindOf(value) === 'integer' && value >= int32.min && value <= int32.max;
  }
  if (type === 'integer') return (value) => typeof value === 'bigint' || isInt64(value);
  if (type === 'number' && format === 'float') return (value) => Number.isFinite(Math.fround(Number(value)));
  return () => true;
}
