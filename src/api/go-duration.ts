import { goTimeQuote } from './go-time.js';
import { member } from './object.js';

/** A duration, or the error. */
export type ParsedDuration =
  | { readonly milliseconds: number; readonly nanoseconds: bigint; readonly wrong?: undefined }
  | { readonly wrong: string };

const unitNanoseconds: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  '\u00b5s': 1_000n,
  '\u03bcs': 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const longest = 1n << 63n;

/** Parses a duration such as `1.5h`, `300ms` or `-1m30s` as Go's `time.ParseDuration` does, with its error texts. */
export function parseDuration(text: string): ParsedDuration {
  const invalid = (): ParsedDuration => ({ wrong: `time: invalid duration ${goTimeQuote(text)}` });
  const sign = /^[+-]/.exec(text)?.[0] ?? '';
  let remaining = text.slice(sign.length);
  if (remaining === '0') return { milliseconds: 0, nanoseconds: 0n };
  if (remaining === '') return invalid();
  let total = 0n;
  while (remaining !== '') {
    const [number = '', integer = '', fraction = ''] = /^(\d*)(?:\.(\d*))?/.exec(remaining) ?? [];
    // Go fails beyond 19 digits too, so longer numbers are not converted.
    if ((integer === '' && fraction === '') || integer.replace(/^0+/, '').length > 19) return invalid();
    remaining = remaining.slice(number.length);
    const unitName = /^[^.\d]+/.exec(remaining)?.[0];
    if (unitName === undefined) return { wrong: `time: missing unit in duration ${goTimeQuote(text)}` };
    const unit = member(unitNanoseconds, unitName);
    if (unit === undefined) {
      return { wrong: `time: unknown unit ${goTimeQuote(unitName)} in duration ${goTimeQuote(text)}` };
    }
    remaining = remaining.slice(unitName.length);
    const digits = fraction.slice(0, 18);
    const part = digits === '' ? 0n : (BigInt(digits) * unit) / 10n ** BigInt(digits.length);
    total += BigInt(integer || '0') * unit + part;
    if (total > longest) return invalid();
  }
  if (sign !== '-' && total === longest) return invalid();
  const nanoseconds = sign === '-' ? -total : total;
  return { milliseconds: Number(nanoseconds) / 1e6, nanoseconds };
}
