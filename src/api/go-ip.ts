import { maxInt64 } from './go-integers.js';
import { quote } from './go-text.js';

/** Parses IP addresses and prefixes as Go's `net/netip` does, with its error texts. */

/** 4 or 16 bytes; IPv4 mapped into IPv6 keeps its 16. */
export interface GoAddress {
  readonly bytes: Buffer;
  /** The zone after `%` in IPv6; empty if there is none. */
  readonly zone: string;
}

type ParseError = { readonly wrong: string };

/**
 * Parses an address, or returns Go's error (`ParseAddr("x"): unable to parse IP`). `quoted` quotes texts whose units are
 * bytes.
 */
export function parseAddress(text: string, quoted: (part: string) => string = quote): GoAddress | ParseError {
  const complain = (problem: string, at = ''): ParseError => ({
    wrong: `ParseAddr(${quoted(text)}): ${problem}${at === '' ? '' : ` (at ${quoted(at)})`}`,
  });
  const telling = /[.:%]/.exec(text)?.[0];
  if (telling === '.') {
    const bytes = fourBytes(text);
    return 'wrong' in bytes ? complain(bytes.wrong, bytes.at) : { bytes: Buffer.from(bytes), zone: '' };
  }
  if (telling === '%') return complain('missing IPv6 address');
  if (telling === undefined) return complain('unable to parse IP');
  const percent = text.indexOf('%');
  const zone = percent < 0 ? '' : text.slice(percent + 1);
  if (percent >= 0 && zone === '') return complain('zone must be a non-empty string');
  const bytes = sixteenBytes(percent < 0 ? text : text.slice(0, percent));
  return 'wrong' in bytes ? complain(bytes.wrong, bytes.at) : { bytes, zone };
}

/** Parses an address and its prefix length in bits, or returns Go's error. */
export function parsePrefix(text: string): { readonly bytes: Buffer; readonly bits: number } | ParseError {
  const complain = (problem: string): ParseError => ({ wrong: `netip.ParsePrefix(${quote(text)}): ${problem}` });
  const slash = text.lastIndexOf('/');
  if (slash < 0) return complain("no '/'");
  const address = parseAddress(text.slice(0, slash));
  if ('wrong' in address) return complain(address.wrong);
  if (address.zone !== '') return complain('IPv6 zones cannot be present in a prefix');
  const digits = text.slice(slash + 1);
  if (!/^(?:[0-9]|[1-9][0-9]{1,18})$/.test(digits) || BigInt(digits) > maxInt64) {
    return complain(`bad bits after slash: ${quote(digits)}`);
  }
  const bits = Number(digits);
  return bits > address.bytes.length * 8 ? complain('prefix length out of range') : { bytes: address.bytes, bits };
}

/** An error, and the rest of the text that it concerns. */
type Problem = { readonly wrong: string; readonly at?: string };

function fourBytes(text: string): readonly number[] | Problem {
  const fields: number[] = [];
  let value = 0;
  let digits = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at) - 0x30;
    if (unit >= 0 && unit <= 9) {
      if (digits === 1 && value === 0) return { wrong: 'IPv4 field has octet with leading zero' };
      value = value * 10 + unit;
      digits++;
      if (value > 255) return { wrong: 'IPv4 field has value >255' };
    } else if (text[at] !== '.') {
      return { wrong: 'unexpected character', at: text.slice(at) };
    } else {
      if (at === 0 || at === text.length - 1 || text[at - 1] === '.') {
        return { wrong: 'IPv4 field must have at least one digit', at: text.slice(at) };
      }
      if (fields.length === 3) return { wrong: 'IPv4 address too long' };
      fields.push(value);
      value = 0;
      digits = 0;
    }
  }
  return fields.length < 3 ? { wrong: 'IPv4 address too short' } : [...fields, value];
}

const size = 16;

function sixteenBytes(text: string): Buffer | Problem {
  const bytes: number[] = [];
  /** The position of the `::` among the bytes. */
  let gap: number | undefined;
  let remaining = text;
  if (remaining.startsWith('::')) {
    gap = 0;
    remaining = remaining.slice(2);
    if (remaining === '') return Buffer.alloc(size);
  }
  while (bytes.length < size) {
    const digits = /^[0-9A-Fa-f]{0,5}/.exec(remaining)?.[0] ?? '';
    if (digits.length > 4) return { wrong: 'each group must have 4 or less digits', at: remaining };
    if (digits === '') return { wrong: 'each colon-separated field must have at least one digit', at: remaining };
    if (remaining[digits.length] === '.') {
      if (gap === undefined && bytes.length !== 12) {
        return { wrong: 'embedded IPv4 address must replace the final 2 fields of the address', at: remaining };
      }
      if (bytes.length + 4 > size) {
        return { wrong: 'too many hex fields to fit an embedded IPv4 at the end of the address', at: remaining };
      }
      const last = fourBytes(remaining);
      if ('wrong' in last) return last;
      bytes.push(...last);
      remaining = '';
      break;
    }
    const group = Number.parseInt(digits, 16);
    bytes.push(group >> 8, group & 0xff);
    remaining = remaining.slice(digits.length);
    if (remaining === '') break;
    if (!remaining.startsWith(':')) return { wrong: 'unexpected character, want colon', at: remaining };
    if (remaining.length === 1) return { wrong: 'colon must be followed by more characters', at: remaining };
    remaining = remaining.slice(1);
    if (remaining.startsWith(':')) {
      if (gap !== undefined) return { wrong: 'multiple :: in address', at: remaining };
      gap = bytes.length;
      remaining = remaining.slice(1);
      if (remaining === '') break;
    }
  }
  if (remaining !== '') return { wrong: 'trailing garbage after address', at: remaining };
  if (gap === undefined) return bytes.length < size ? { wrong: 'address string too short' } : Buffer.from(bytes);
  if (bytes.length === size) return { wrong: 'the :: must expand to at least one field of zeros' };
  return Buffer.from([...bytes.slice(0, gap), ...Array<number>(size - bytes.length).fill(0), ...bytes.slice(gap)]);
}
