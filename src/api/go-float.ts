/** Formats finite floats with a number of digits as Go's `fmt` does; JavaScript would round halves up. */

/** Formats like `%.2f`: rounded exactly, halves to the even digit, with any number of digits; `-0.000000` keeps its sign. */
export function goFixed(value: number, fractionDigits: number): string {
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const { mantissa, exponent } = binaryParts(Math.abs(value));
  const digits = Math.min(fractionDigits, 1_100);
  const numerator = mantissa * 10n ** BigInt(digits);
  let scaled = exponent >= 0 ? numerator << BigInt(exponent) : numerator >> BigInt(-exponent);
  if (exponent < 0) {
    const remainder = numerator - (scaled << BigInt(-exponent));
    const half = 1n << BigInt(-exponent - 1);
    if (remainder > half || (remainder === half && (scaled & 1n) === 1n)) scaled++;
  }
  const text = String(scaled).padStart(digits + 1, '0');
  const integer = sign + text.slice(0, text.length - digits);
  return fractionDigits === 0 ? integer : `${integer}.${text.slice(text.length - digits).padEnd(fractionDigits, '0')}`;
}

/** Splits a value into `mantissa * 2 ** exponent`. */
function binaryParts(value: number): { readonly mantissa: bigint; readonly exponent: number } {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const raw = bits.getBigUint64(0);
  const biased = Number((raw >> 52n) & 0x7ffn);
  const fraction = raw & 0xfffffffffffffn;
  return biased === 0
    ? { mantissa: fraction, exponent: -1_074 }
    : { mantissa: fraction | 0x10000000000000n, exponent: biased - 1_075 };
}

/** Formats like `%.6e`, with the exponent as JavaScript writes it. */
export function goScientific(value: number, fractionDigits: number): string {
  const [exact = '', exponent = ''] = value.toExponential(100).split('e');
  const end = exact.indexOf('.') + 1 + fractionDigits;
  const isHalf = /^50*$/.test(exact.slice(end));
  return isHalf && Number(exact[end - 1]) % 2 === 0
    ? `${exact.slice(0, end)}e${exponent}`
    : value.toExponential(fractionDigits);
}
