import {
  type BitString,
  bitString,
  isMinimalInteger,
  maxElements,
  maxOidBytes,
  oidText,
  smallInteger,
  universal,
} from './der.js';
import { PkiError } from './pki-error.js';

/**
 * Reads DER as Go's encoding/asn1 does, with its error texts. Requests and parameters of signatures are read with this,
 * because the API returns these texts. Certificates are read with `DerCursor`, because crypto/x509 uses another reader
 * for them.
 */

const syntaxError = (detail: string): PkiError => new PkiError('parse', `asn1: syntax error: ${detail}`);
const structureError = (detail: string): PkiError => new PkiError('parse', `asn1: structure error: ${detail}`);

export interface Field {
  /** 0 for universal, 1 application, 2 context-specific, 3 private. */
  readonly class: number;
  readonly tag: number;
  readonly constructed: boolean;
  readonly contents: Buffer;
  /** The tag, length and contents. */
  readonly fullBytes: Buffer;
}

interface Header extends Omit<Field, 'contents' | 'fullBytes'> {
  readonly length: number;
}

/** The expected form of a field: universal unless a context tag is given. `goType` is used in error texts only. */
export interface Expected {
  readonly tag: number;
  readonly constructed: boolean;
  readonly goType: string;
  readonly context?: boolean;
}

/** The largest length that can still be shifted by a byte. */
const lengthLimit = 2 ** 23;
const maxBase128 = 2 ** 31 - 1;

export class Asn1Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** Reads a number in groups of seven bits, the highest first. */
  base128(): number {
    let value = 0;
    for (let count = 0; this.#at < this.#bytes.length; count++) {
      if (count === 5) throw structureError('base 128 integer too large');
      const byte = this.#bytes[this.#at++] ?? 0;
      if (count === 0 && byte === 0x80) throw syntaxError('integer is not minimally encoded');
      value = value * 128 + (byte & 0x7f);
      if (byte & 0x80) continue;
      if (value > maxBase128) throw structureError('base 128 integer too large');
      return value;
    }
    throw syntaxError('truncated base 128 integer');
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw syntaxError('truncated tag or length');
    this.#at++;
    return byte;
  }

  #header(): Header {
    const first = this.#byte();
    let tag = first & 0x1f;
    if (tag === 0x1f) {
      tag = this.base128();
      if (tag < 0x1f) throw syntaxError('non-minimal tag');
    }
    return { class: first >> 6, tag, constructed: (first & 0x20) !== 0, length: this.#length() };
  }

  #length(): number {
    const first = this.#byte();
    if (first < 0x80) return first;
    const count = first & 0x7f;
    if (count === 0) throw syntaxError('indefinite length found (not DER)');
    let length = 0;
    for (let i = 0; i < count; i++) {
      const byte = this.#byte();
      if (length >= lengthLimit) throw structureError('length too large');
      length = length * 256 + byte;
      if (length === 0) throw structureError('superfluous leading zeros in length');
    }
    if (length < 0x80) throw structureError('non-minimal length');
    return length;
  }

  #contents(start: number, header: Header, truncated: string): Field {
    const stop = this.#at + header.length;
    if (stop > this.#bytes.length) throw syntaxError(truncated);
    const contents = this.#bytes.subarray(this.#at, stop);
    this.#at = stop;
    const { class: tagClass, tag, constructed } = header;
    return { class: tagClass, tag, constructed, contents, fullBytes: this.#bytes.subarray(start, stop) };
  }

  /** Reads the next field, whatever it is. */
  any(): Field {
    if (this.done) throw syntaxError('sequence truncated');
    const start = this.#at;
    return this.#contents(start, this.#header(), 'data truncated');
  }

  /** Reads the next field, which must be as expected. */
  field(expected: Expected): Field {
    if (this.done) throw syntaxError('sequence truncated');
    const start = this.#at;
    const header = this.#header();
    if (!matches(header, expected)) throw this.#mismatch(header, expected);
    return this.#contents(start, header, 'data truncated');
  }

  /** Reads the next field if it is as expected; otherwise, or at the end, returns undefined and reads nothing. */
  optional(expected: Expected): Field | undefined {
    if (this.done) return undefined;
    const start = this.#at;
    const header = this.#header();
    if (matches(header, expected)) return this.#contents(start, header, 'data truncated');
    this.#at = start;
    return undefined;
  }

  /** Reads the field in `[number]`, if that comes next. As in Go, the length of the `[number]` is not checked. */
  explicit(number: number, expected: Expected): Field | undefined {
    const start = this.#at;
    const header = this.done ? undefined : this.#header();
    if (header?.class === 2 && header.tag === number && header.constructed) return this.field(expected);
    this.#at = start;
    return undefined;
  }

  #mismatch(header: Header, expected: Expected): PkiError {
    const found = `{class:${header.class} tag:${header.tag} length:${header.length} isCompound:${header.constructed}}`;
    // Go prints the address of the tag here, which differs anyway.
    const tag = expected.context ? '0xc000000000' : '<nil>';
    const parameters = `{optional:false explicit:false application:false private:false defaultValue:<nil> tag:${tag} stringType:0 timeType:0 set:false omitEmpty:false}`;
    return structureError(
      `tags don't match (${expected.tag} vs ${found}) ${parameters} ${expected.goType} @${this.#at}`,
    );
  }

  /**
   * Reads every element to the end; all must be of one kind, if one is given. The contents of the elements are not
   * checked. More than 10,000 are rejected, so that no request blocks others for long.
   */
  elements(of?: Pick<Expected, 'tag' | 'constructed'>): readonly Field[] {
    const found: Field[] = [];
    while (!this.done) {
      const start = this.#at;
      const header = this.#header();
      if (of && (header.class !== 0 || header.tag !== of.tag || header.constructed !== of.constructed)) {
        throw structureError('sequence tag mismatch');
      }
      if (found.length === maxElements) throw structureError('too many elements');
      found.push(this.#contents(start, header, 'truncated sequence'));
    }
    return found;
  }
}

const matches = (header: Header, expected: Expected): boolean =>
  header.class === (expected.context ? 2 : 0) &&
  header.tag === expected.tag &&
  header.constructed === expected.constructed;

/** Reads an INTEGER of at most 64 bits. */
export function readInteger(contents: Buffer): bigint {
  if (contents.length === 0) throw structureError('empty integer');
  if (!isMinimalInteger(contents)) throw structureError('integer not minimally-encoded');
  const value = smallInteger(contents);
  if (value === undefined) throw structureError('integer too large');
  return value;
}

export function readBitString(contents: Buffer): BitString {
  if (contents.length === 0) throw syntaxError('zero length BIT STRING');
  const value = bitString(contents);
  if (value === undefined) throw syntaxError('invalid padding bits in BIT STRING');
  return value;
}

export function readOid(contents: Buffer): string {
  const text = oidText(contents);
  if (text !== undefined) return text;
  if (contents.length === 0) throw syntaxError('zero length OBJECT IDENTIFIER');
  if (contents.length > maxOidBytes) throw structureError(`object identifier of more than ${maxOidBytes} bytes`);
  // One of its numbers is malformed, or the last one is incomplete: reading them throws the error.
  const numbers = new Asn1Reader(contents);
  for (;;) numbers.base128();
}

export function readBoolean(contents: Buffer): boolean {
  if (contents.length === 1 && contents[0] === 0) return false;
  if (contents.length === 1 && contents[0] === 0xff) return true;
  throw syntaxError('invalid boolean');
}

/** An algorithm with its parameters, for example of a key or a signature (RFC 5280, section 4.1.1.2). */
export interface AlgorithmIdentifier {
  /** The object identifier in dotted form. */
  readonly oid: string;
  /** The whole parameters element; empty if there is none. */
  readonly parameters: Buffer;
}

/** Reads an AlgorithmIdentifier from a field; elements after the parameters are ignored. */
export function readAlgorithm(field: Field | undefined): AlgorithmIdentifier {
  const members = new Asn1Reader(field?.contents ?? Buffer.alloc(0));
  const oid = readOid(members.field(objectIdentifier).contents);
  return { oid, parameters: members.done ? Buffer.alloc(0) : members.any().fullBytes };
}
const objectIdentifier = { tag: universal.oid, constructed: false, goType: 'ObjectIdentifier' } as const;
