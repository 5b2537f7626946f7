import { isInt64, maxInt64 } from './go-integers.js';

/**
 * A quantity (`resource.Quantity`): a decimal number with a suffix. As in Kubernetes, one that fits in 64 bits with a
 * power of ten is kept in that form, and only such a quantity can be converted to a whole number.
 */
export interface Quantity {
  /** The coefficient: the value is `digits * 10 ** exponent`. */
  readonly digits: bigint;
  readonly exponent: number;
  readonly isSmall: boolean;
  /** How it is printed: with a suffix for powers of 1,000, with one for powers of 1,024, or with an exponent. */
  readonly form: 'decimal' | 'binary' | 'scientific';
  /** The original text, if it is also the canonical one. */
  readonly written?: string;
}

const wrongFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const wrongNumber = 'unable to parse numeric part of quantity';
const wrongSuffix = "unable to parse quantity's suffix";

const binary: ReadonlyMap<string, number> = new Map(Object.entries({ Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 }));
const decimal: ReadonlyMap<string, number> = new Map(
  Object.entries({ n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }),
);
const byExponent = new Map([...decimal].map(([suffix, exponent]) => [exponent, suffix]));
const byBits = new Map([...binary].map(([suffix, bits]) => [bits, suffix]));

const grammar = /^([+-]?)(0*)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*)([+-]?\d*)$/;
/** The maximum length of a text. */
const maxLength = 4_096;
/** The maximum number of digits and powers of ten in computations, which limits their time. */
const largestShift = 10_000;
const nano = -9;

/**
 * Parses a quantity, or returns the error. Values finer than a billionth are rounded up; binary ones are capped at the
 * largest int64.
 */
export function parseQuantity(text: string): Quantity | { readonly wrong: string } {
  if (text === '' || text.length > maxLength) return { wrong: wrongFormat };
  if (text === '0') return { digits: 0n, exponent: 0, isSmall: true, form: 'decimal', written: text };
  const parts = grammar.exec(text);
  if (parts === null) return { wrong: wrongFormat };
  const [, sign, zeros = '', integer = '', fraction = '', letters = '', power = ''] = parts;
  const unit = unitOf(letters, power);
  if (unit === undefined) return { wrong: wrongSuffix };
  const isNegative = sign === '-';
  const number = (integer || '0') + fraction;
  const small = smallQuantity(number, fraction.length, unit, isNegative);
  if (small !== undefined) return isCanonical(number, small, unit.power) ? { ...small, written: text } : small;
  if (zeros + integer + fraction === '') return { wrong: wrongNumber };
  return largeQuantity(BigInt(number), fraction.length, unit, isNegative);
}

interface Unit {
  readonly form: Quantity['form'];
  /** The power of two in the binary form, of ten in the others. */
  readonly power: number;
}

function unitOf(letters: string, power: string): Unit | undefined {
  const suffix = letters + power;
  const exponent = decimal.get(suffix);
  if (exponent !== undefined) return { form: 'decimal', power: exponent };
  const bits = binary.get(suffix);
  if (bits !== undefined) return { form: 'binary', power: bits };
  const digits = /^[eE]([+-]?)0*(\d{1,19})$/.exec(suffix);
  const written = BigInt(digits?.[2] ?? 0) * (digits?.[1] === '-' ? -1n : 1n);
  if (digits === null || !isInt64(written)) return undefined;
  return { form: 'scientific', power: Number(BigInt.asIntN(32, written)) };
}

/** Returns the quantity if 18 digits are enough for it; undefined otherwise. */
function smallQuantity(number: string, fractions: number, unit: Unit, isNegative: boolean): Quantity | undefined {
  const isBinary = unit.form === 'binary';
  const spareDigits = isBinary ? 14 - number.length - Math.trunc((unit.power * 3) / 10) : 18 - number.length;
  const exponent = isBinary ? 0 : unit.power - fractions;
  if (spareDigits < 0 || exponent < nano || (isBinary && fractions > 0)) return undefined;
  const digits = BigInt(number) << BigInt(isBinary ? unit.power : 0);
  return { digits: isNegative ? -digits : digits, exponent, isSmall: true, form: unit.form };
}

/**
 * Whether a small quantity is printed as it was written. Kubernetes also takes some texts for canonical that are not.
 */
function isCanonical(number: string, { form, exponent }: Quantity, power: number): boolean {
  if (form === 'binary') return power % 10 === 0 && BigInt(number) % 8n !== 0n;
  return exponent % 3 === 0 && !number.endsWith('000') && !number.startsWith('0');
}

function largeQuantity(
  number: bigint,
  fractions: number,
  { form, power }: Unit,
  isNegative: boolean,
): Quantity | { readonly wrong: string } {
  const signed = (digits: bigint): bigint => (isNegative ? -digits : digits);
  if (number === 0n) return { digits: 0n, exponent: 0, isSmall: false, form };
  if (power > largestShift) return { wrong: wrongNumber };
  const isBinary = form === 'binary';
  const amount = isBinary ? number << BigInt(power) : number;
  const nanos = atScale(amount, Math.max((isBinary ? 0 : power) - fractions - nano, -2 * largestShift));
  const unit = 10n ** BigInt(-nano);
  if (isBinary && nanos > maxInt64 * unit) return { digits: signed(maxInt64), exponent: 0, isSmall: false, form };
  const shownForm = isBinary && nanos < unit && !isNegative ? 'decimal' : form;
  return { digits: signed(nanos), exponent: nano, isSmall: false, form: shownForm };
}

/** Returns `value` times ten to the `exponent`, rounded up to a whole number. */
function atScale(value: bigint, exponent: number): bigint {
  if (exponent >= 0) return value * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  return (value + divisor - 1n) / divisor;
}

/** Returns the canonical text of a quantity, or the error. */
export function canonicalQuantity(text: string): string | { readonly wrong: string } {
  const quantity = parseQuantity(text);
  return 'wrong' in quantity ? quantity : quantityText(quantity);
}

/** Formats a quantity as Kubernetes does; an exponent without a suffix is omitted. */
export function quantityText({ digits, exponent, form, written }: Quantity): string {
  if (written !== undefined) return written;
  if (digits === 0n) return '0';
  if (form === 'binary') {
    const integer = exponent >= 0 ? digits * 10n ** BigInt(exponent) : digits / 10n ** BigInt(-exponent);
    const isWhole = exponent >= 0 || integer * 10n ** BigInt(-exponent) === digits;
    if (isWhole && (integer >= 1_024n || integer <= -1_024n)) return binaryText(integer);
  }
  return decimalText(digits, exponent, form === 'scientific');
}

function binaryText(integer: bigint): string {
  let value = integer;
  let bits = 0;
  while (value % 1_024n === 0n) {
    value /= 1_024n;
    bits += 10;
  }
  return `${value}${byBits.get(bits) ?? ''}`;
}

function decimalText(digits: bigint, tens: number, scientific: boolean): string {
  let value = digits;
  let exponent = tens;
  while (value % 10n === 0n) {
    value /= 10n;
    exponent++;
  }
  for (; exponent % 3 !== 0; exponent--) value *= 10n;
  if (!scientific) return `${value}${byExponent.get(exponent) ?? ''}`;
  return exponent === 0 ? `${value}` : `${value}e${exponent}`;
}

/** Returns a whole number as a quantity. */
export const wholeQuantity = (digits: bigint): Quantity => ({ digits, exponent: 0, isSmall: true, form: 'scientific' });

/** Returns the sum in the form of the first operand unless that is zero; undefined if it would have too many digits. */
export function sum(a: Quantity, b: Quantity): Quantity | undefined {
  const form = a.digits === 0n ? b.form : a.form;
  if (a.isSmall && b.isSmall) {
    if (b.digits === 0n) return { digits: a.digits, exponent: a.exponent, isSmall: true, form };
    if (a.digits === 0n) return { digits: b.digits, exponent: b.exponent, isSmall: true, form };
  }
  const aligned = alignExponents(a, b);
  if (aligned === undefined) return undefined;
  const [left, right, exponent] = aligned;
  const digits = left + right;
  const isSmall = a.isSmall && b.isSmall && isInt64(left) && isInt64(right) && isInt64(digits);
  return { digits, exponent, isSmall, form };
}

/** Returns the difference as Kubernetes computes it: the smallest int64 is its own negative. */
export function difference(a: Quantity, b: Quantity): Quantity | undefined {
  const small = b.isSmall ? sum(a, { ...b, digits: BigInt.asIntN(64, -b.digits) }) : undefined;
  return small?.isSmall === true ? small : sum(a, { ...b, digits: -b.digits });
}

/** Returns the digits of both operands for a common exponent. */
function alignExponents(a: Quantity, b: Quantity): readonly [bigint, bigint, number] | undefined {
  const exponent = Math.min(a.exponent, b.exponent);
  if (Math.max(a.exponent, b.exponent) - exponent > 2 * largestShift) return undefined;
  const digits = (quantity: Quantity): bigint => quantity.digits * 10n ** BigInt(quantity.exponent - exponent);
  return [digits(a), digits(b), exponent];
}

export const signOf = ({ digits }: Quantity): -1 | 0 | 1 => (digits < 0n ? -1 : digits > 0n ? 1 : 0);

/** Compares two quantities; negative if the first is less. */
export function compareQuantities(a: Quantity, b: Quantity): -1 | 0 | 1 {
  const sign = signOf(a);
  if (sign !== signOf(b)) return sign < signOf(b) ? -1 : 1;
  const aligned = sign === 0 ? undefined : alignExponents(a, b);
  if (aligned !== undefined) return aligned[0] < aligned[1] ? -1 : aligned[0] > aligned[1] ? 1 : 0;
  if (sign === 0) return 0;
  return a.exponent < b.exponent === sign > 0 ? -1 : 1;
}

/** Returns the quantity as an int64; undefined if it is none, or not kept as a small one. */
export function wholeOf({ digits, exponent, isSmall }: Quantity): bigint | undefined {
  if (!isSmall || exponent < 0) return undefined;
  if (digits === 0n) return 0n;
  if (exponent > 18) return undefined;
  const integer = digits * 10n ** BigInt(exponent);
  return isInt64(integer) ? integer : undefined;
}

/** Returns the nearest double of the digits, scaled in one step: close, but not exact. */
export const approximate = ({ digits, exponent }: Quantity): number =>
  exponent === 0 ? Number(digits) : Number(digits) * powerOfTen(exponent);

/** Computes a power of ten as Go's `math.Pow10` does, from two factors. */
function powerOfTen(exponent: number): number {
  const size = Math.abs(exponent);
  const coarse = Math.trunc(size / 32) * 32;
  const fine = Number(`1e${size - coarse}`);
  if (exponent >= 0) return exponent > 308 ? Number.POSITIVE_INFINITY : Number(`1e${coarse}`) * fine;
  return exponent < -323 ? 0 : Number(`1e-${coarse}`) / fine;
}
