import { PkiError } from './pki-error.js';

/** DER (X.690) in and out: tags, object identifiers, and a cursor over strict, definite, minimal encodings. */

export const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  numericString: 0x12,
  printableString: 0x13,
  t61String: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  generalString: 0x1b,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const;

/** `[n]`, primitive. */
export const context = (number: number): number => 0x80 | number;
/** `[n]`, constructed. */
export const constructed = (number: number): number => 0xa0 | number;

export interface Element {
  readonly tag: number;
  /** Contents, without tag and length. */
  readonly value: Buffer;
  /** Tag, length and contents. */
  readonly whole: Buffer;
}

const maxLengthBytes = 4;
/** More than anything in use has, and few enough not to hold up everybody else. */
export const maxElements = 10_000;

/**
 * Reads one element after another. What is malformed, not minimal, indefinite or cut short reads as undefined and
 * leaves the cursor where it was, and so does what comes after 10,000 others; nothing is ever read twice and nothing
 * nested is entered unasked.
 */
export class DerCursor {
  readonly #bytes: Buffer;
  #at = 0;
  #count = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get empty(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** Does the next element have this tag? */
  nextIs(tag: number): boolean {
    return this.#bytes[this.#at] === tag;
  }

  /** The next element, whatever it is. Tags above 30 are not read. */
  any(): Element | undefined {
    const bytes = this.#bytes;
    const tag = bytes[this.#at];
    const first = bytes[this.#at + 1];
    if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) return undefined;
    let contents = this.#at + 2;
    let length = first;
    if (first & 0x80) {
      const count = first & 0x7f;
      if (count === 0 || count > maxLengthBytes || contents + count > bytes.length) return undefined;
      length = bytes.readUIntBE(contents, count);
      contents += count;
      if (length < 0x80 || length < 2 ** (8 * (count - 1))) return undefined;
    }
    if (contents + length > bytes.length || this.#count === maxElements) return undefined;
    this.#count++;
    const whole = bytes.subarray(this.#at, contents + length);
    this.#at = contents + length;
    return { tag, value: whole.subarray(whole.length - length), whole };
  }

  /** Contents of the next element, if it has this tag. */
  read(tag: number): Buffer | undefined {
    return this.element(tag)?.value;
  }

  /** The next element, if it has this tag. */
  element(tag: number): Element | undefined {
    return this.nextIs(tag) ? this.any() : undefined;
  }

  /** A cursor over the contents of the next element, if it has this tag. */
  enter(tag: number): DerCursor | undefined {
    const value = this.read(tag);
    return value && new DerCursor(value);
  }

  /** An INTEGER as minimal two's complement. */
  integer(tag: number = tags.integer): Buffer | undefined {
    const value = this.read(tag);
    return value && isMinimalInteger(value) ? value : undefined;
  }

  oid(): string | undefined {
    const value = this.read(tags.oid);
    return value && oidText(value);
  }

  boolean(): boolean | undefined {
    const value = this.read(tags.boolean);
    if (value?.length !== 1) return undefined;
    return value[0] === 0xff ? true : value[0] === 0 ? false : undefined;
  }

  bitString(): BitString | undefined {
    const value = this.read(tags.bitString);
    return value && bitString(value);
  }
}

/** Non-empty, without a leading byte that says nothing. */
export const isMinimalInteger = (bytes: Buffer): boolean => {
  const [first, second] = bytes;
  if (first === undefined) return false;
  if (second === undefined) return true;
  return !((first === 0 && second < 0x80) || (first === 0xff && second >= 0x80));
};

/** The value of a minimal INTEGER; undefined beyond 64 bits. */
export const smallInteger = (bytes: Buffer): bigint | undefined =>
  bytes.length > 8 ? undefined : BigInt.asIntN(8 * bytes.length, BigInt(`0x${bytes.toString('hex')}`));

export interface BitString {
  readonly bytes: Buffer;
  readonly unusedBits: number;
}

/** Contents of a BIT STRING; undefined if the padding is not right. */
export function bitString(value: Buffer): BitString | undefined {
  const unusedBits = value[0];
  if (unusedBits === undefined || unusedBits > 7 || (value.length === 1 && unusedBits > 0)) return undefined;
  const last = value.length === 1 ? 0 : (value.at(-1) ?? 0);
  if (last & ((1 << unusedBits) - 1)) return undefined;
  return { bytes: value.subarray(1), unusedBits };
}

/** The bits of a BIT STRING as a number without its padding, as keys and signatures are read. */
export function rightAligned({ bytes, unusedBits }: BitString): Buffer {
  if (unusedBits === 0 || bytes.length === 0) return bytes;
  const out = Buffer.alloc(bytes.length);
  let carried = 0;
  for (const [at, byte] of bytes.entries()) {
    out[at] = (carried << (8 - unusedBits)) | (byte >> unusedBits);
    carried = byte;
  }
  return out;
}

const maxArc = 2 ** 31 - 1;
/** More than any identifier in use has; the text is several times as long. */
export const maxOidBytes = 64;

/** Dotted form of an object identifier; undefined if it is malformed, too long, or an arc exceeds 31 bits. */
export function oidText(value: Buffer): string | undefined {
  if (value.length > maxOidBytes) return undefined;
  const arcs: number[] = [];
  let arc = 0;
  for (const byte of value) {
    if (arc === 0 && byte === 0x80) return undefined;
    arc = arc * 128 + (byte & 0x7f);
    if (arc > maxArc) return undefined;
    if (byte & 0x80) continue;
    if (arcs.length > 0) arcs.push(arc);
    else {
      const root = Math.min(2, Math.floor(arc / 40));
      arcs.push(root, arc - 40 * root);
    }
    arc = 0;
  }
  return value.length === 0 || arc > 0 ? undefined : arcs.join('.');
}

// --- writing ---------------------------------------------------------------------------------------------

function header(tag: number, length: number): Buffer {
  if (length < 0x80) return Buffer.from([tag, length]);
  if (length < 0x100) return Buffer.from([tag, 0x81, length]);
  if (length < 0x10000) return Buffer.from([tag, 0x82, length >> 8, length & 0xff]);
  if (length < 0x1000000) return Buffer.from([tag, 0x83, length >> 16, (length >> 8) & 0xff, length & 0xff]);
  return Buffer.from([tag, 0x84, length >>> 24, (length >> 16) & 0xff, (length >> 8) & 0xff, length & 0xff]);
}

/** An element with these contents. */
export const encode = (tag: number, ...contents: readonly Uint8Array[]): Buffer => {
  let length = 0;
  for (const part of contents) length += part.length;
  return Buffer.concat([header(tag, length), ...contents]);
};

export const sequence = (...members: readonly Uint8Array[]): Buffer => encode(tags.sequence, ...members);

/** SET OF: members in the order of their encodings, as DER demands. */
export const setOf = (members: readonly Buffer[]): Buffer =>
  encode(tags.set, Buffer.concat([...members].sort(Buffer.compare)));

/** A non-negative INTEGER from its magnitude. */
export function unsignedInteger(magnitude: Buffer): Buffer {
  let start = 0;
  while (start < magnitude.length - 1 && magnitude[start] === 0) start++;
  const minimal = magnitude.subarray(start);
  return (minimal[0] ?? 0) & 0x80 ? encode(tags.integer, Buffer.from([0]), minimal) : encode(tags.integer, minimal);
}

export const oid = (dotted: string): Buffer => {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes: number[] = [];
  for (const arc of [first * 40 + second, ...rest]) {
    const groups = [arc & 0x7f];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128))
      groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return encode(tags.oid, Buffer.from(bytes));
};

export const octetString = (contents: Uint8Array): Buffer => encode(tags.octetString, contents);
/** A BIT STRING of whole bytes. */
export const bits = (contents: Uint8Array): Buffer => encode(tags.bitString, Buffer.from([0]), contents);
export const nothing: Buffer = encode(tags.null);
export const truth: Buffer = encode(tags.boolean, Buffer.from([0xff]));

/** BIT STRING of flags, bit 0 first, without trailing zeros (X.690 11.2.2). */
export function flags(set: ReadonlySet<number>): Buffer {
  const highest = Math.max(-1, ...set);
  const bytes = Buffer.alloc(Math.ceil((highest + 1) / 8));
  for (const bit of set) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7));
  const unused = bytes.length * 8 - (highest + 1);
  return encode(tags.bitString, Buffer.from([unused]), bytes);
}

const printable = /^[A-Za-z0-9 '()+,\-./:=?]*$/;

/** A DirectoryString: PrintableString if every character fits, else UTF8String. */
export function directoryString(text: string): Buffer {
  if (printable.test(text)) return encode(tags.printableString, Buffer.from(text, 'latin1'));
  const bytes = Buffer.from(text);
  if (bytes.toString() !== text) throw new PkiError('unissuable', 'asn1: string not valid UTF-8');
  return encode(tags.utf8String, bytes);
}

/** A time in whole seconds: UTCTime before 2050, GeneralizedTime from then on (RFC 5280 4.1.2.5). */
export function time(milliseconds: number): Buffer {
  const digits = new Date(milliseconds).toISOString().replace(/[-:T]|\.\d{3}/g, '');
  const year = Number(digits.slice(0, 4));
  return year >= 1950 && year < 2050
    ? encode(tags.utcTime, Buffer.from(digits.slice(2), 'latin1'))
    : encode(tags.generalizedTime, Buffer.from(digits, 'latin1'));
}
