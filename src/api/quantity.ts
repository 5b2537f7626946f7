/** Quantities (`resource.Quantity`): a decimal number with a suffix, printed in one canonical form. */

const wrongFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const wrongSuffix = "unable to parse quantity's suffix";

const binary: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };
const decimal: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const byExponent = new Map(Object.entries(decimal).map(([suffix, exponent]) => [exponent, suffix]));
const byBits = new Map(Object.entries(binary).map(([suffix, bits]) => [bits, suffix]));

const grammar = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*)([+-]?\d*)$/;
/** Longest text looked at; far beyond what fits the largest quantity. */
const maxLength = 4_096;
const nano = 9;
const largest = 2n ** 63n - 1n;

/** The canonical text, or what is wrong. Values finer than a billionth are rounded up; too large ones are capped. */
export function canonicalQuantity(text: string): string | { readonly wrong: string } {
  if (text === '' || text.length > maxLength) return { wrong: wrongFormat };
  const parts = grammar.exec(text);
  if (parts === null) return { wrong: wrongFormat };
  const [, sign = '', whole = '', fraction = '', letters = '', digits = ''] = parts;
  const suffix = letters + digits;
  const format = formatOf(letters, digits, suffix);
  if (format === undefined) return { wrong: wrongSuffix };

  const shift = format.base === 2 ? 0 : Math.max(-1_000, Math.min(1_000, format.exponent));
  const scaled = BigInt(`0${whole}${fraction}`) * (format.base === 2 ? 2n ** BigInt(format.exponent) : 1n);
  const nanos = atScale(scaled, shift - fraction.length + nano);
  const limit = largest * 10n ** BigInt(nano);
  const magnitude = nanos > limit ? limit : nanos;
  const amount = sign === '-' ? -magnitude : magnitude;
  if (amount === 0n) return '0';
  const unit = 10n ** BigInt(nano);
  return format.base === 2 && magnitude >= 1_024n * unit && magnitude % unit === 0n
    ? binaryText(amount / unit)
    : decimalText(amount, format.scientific);
}

function formatOf(
  letters: string,
  digits: string,
  suffix: string,
): { readonly base: 2 | 10; readonly exponent: number; readonly scientific: boolean } | undefined {
  const bits = binary[suffix];
  if (bits !== undefined) return { base: 2, exponent: bits, scientific: false };
  const exponent = decimal[suffix];
  if (exponent !== undefined) return { base: 10, exponent, scientific: false };
  const scientific = (letters === 'e' || letters === 'E') && /^[+-]?\d+$/.test(digits);
  return scientific ? { base: 10, exponent: Number(digits), scientific } : undefined;
}

/** `value` times ten to the `exponent`, rounded up to a whole number. */
function atScale(value: bigint, exponent: number): bigint {
  if (exponent >= 0) return value * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  return (value + divisor - 1n) / divisor;
}

function binaryText(whole: bigint): string {
  let value = whole;
  let bits = 0;
  while (value % 1_024n === 0n && bits < 60) {
    value /= 1_024n;
    bits += 10;
  }
  return `${value}${byBits.get(bits) ?? ''}`;
}

function decimalText(nanos: bigint, scientific: boolean): string {
  let value = nanos;
  let exponent = -nano;
  while (value % 1_000n === 0n && exponent < 18) {
    value /= 1_000n;
    exponent += 3;
  }
  if (!scientific) return `${value}${byExponent.get(exponent) ?? ''}`;
  return exponent === 0 ? `${value}` : `${value}e${exponent}`;
}
