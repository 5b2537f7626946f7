import { tags } from './der.js';
import { PkiError } from './pki-error.js';

/** Writes DER (X.690). */

function header(tag: number, length: number): Buffer {
  if (length < 0x80) return Buffer.from([tag, length]);
  if (length < 0x100) return Buffer.from([tag, 0x81, length]);
  if (length < 0x10000) return Buffer.from([tag, 0x82, length >> 8, length & 0xff]);
  if (length < 0x1000000) return Buffer.from([tag, 0x83, length >> 16, (length >> 8) & 0xff, length & 0xff]);
  return Buffer.from([tag, 0x84, length >>> 24, (length >> 16) & 0xff, (length >> 8) & 0xff, length & 0xff]);
}

/** Returns an element with these contents. */
export const encode = (tag: number, ...contents: readonly Uint8Array[]): Buffer => {
  let length = 0;
  for (const part of contents) length += part.length;
  return Buffer.concat([header(tag, length), ...contents]);
};

export const sequence = (...members: readonly Uint8Array[]): Buffer => encode(tags.sequence, ...members);

/** Returns a SET OF, with its members in the order of their encodings, as DER requires. */
export const setOf = (members: readonly Buffer[]): Buffer =>
  encode(tags.set, Buffer.concat([...members].sort(Buffer.compare)));

/** Returns a non-negative INTEGER with this magnitude. */
export function unsignedInteger(magnitude: Buffer): Buffer {
  let start = 0;
  while (start < magnitude.length - 1 && magnitude[start] === 0) start++;
  const minimal = magnitude.subarray(start);
  return (minimal[0] ?? 0) & 0x80 ? encode(tags.integer, Buffer.from([0]), minimal) : encode(tags.integer, minimal);
}

export const encodeOid = (dotted: string): Buffer => {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes: number[] = [];
  for (const arc of [first * 40 + second, ...rest]) {
    const groups = [arc & 0x7f];
    for (let remaining = Math.floor(arc / 128); remaining > 0; remaining = Math.floor(remaining / 128))
      groups.unshift((remaining & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return encode(tags.oid, Buffer.from(bytes));
};

export const octetString = (contents: Uint8Array): Buffer => encode(tags.octetString, contents);
/** Returns a BIT STRING of whole bytes. */
export const encodeBits = (contents: Uint8Array): Buffer => encode(tags.bitString, Buffer.from([0]), contents);
export const derNull: Buffer = encode(tags.null);
export const derTrue: Buffer = encode(tags.boolean, Buffer.from([0xff]));

/** Returns a BIT STRING of flags, bit 0 first, without trailing zeros (X.690 11.2.2). */
export function encodeFlags(set: ReadonlySet<number>): Buffer {
  const highest = Math.max(-1, ...set);
  const bytes = Buffer.alloc(Math.ceil((highest + 1) / 8));
  for (const bit of set) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7));
  const unused = bytes.length * 8 - (highest + 1);
  return encode(tags.bitString, Buffer.from([unused]), bytes);
}

const printable = /^[A-Za-z0-9 '()+,\-./:=?]*$/;

/** Returns a DirectoryString: PrintableString if every character permits, else UTF8String. */
export function directoryString(text: string): Buffer {
  if (printable.test(text)) return encode(tags.printableString, Buffer.from(text, 'latin1'));
  const bytes = Buffer.from(text);
  if (bytes.toString() !== text) throw new PkiError('unissuable', 'asn1: string not valid UTF-8');
  return encode(tags.utf8String, bytes);
}

/** Returns a time in whole seconds: UTCTime before 2050, GeneralizedTime from then on (RFC 5280 4.1.2.5). */
export function encodeTime(milliseconds: number): Buffer {
  const digits = new Date(milliseconds).toISOString().replace(/[-:T]|\.\d{3}/g, '');
  const year = Number(digits.slice(0, 4));
  return year >= 1950 && year < 2050
    ? encode(tags.utcTime, Buffer.from(digits.slice(2), 'latin1'))
    : encode(tags.generalizedTime, Buffer.from(digits, 'latin1'));
}
