/** DER (X.690): tags, object identifiers, and a cursor over strict, definite, minimal encodings. */

/** The numbers of the universal types. */
export const universal = {
  boolean: 1,
  integer: 2,
  bitString: 3,
  octetString: 4,
  null: 5,
  oid: 6,
  utf8String: 12,
  sequence: 16,
  set: 17,
  numericString: 18,
  printableString: 19,
  t61String: 20,
  ia5String: 22,
  utcTime: 23,
  generalizedTime: 24,
  generalString: 27,
  bmpString: 30,
} as const;

/** The first bytes of elements of the universal types. */
export const tags = { ...universal, sequence: 0x20 | universal.sequence, set: 0x20 | universal.set } as const;

/** Returns the first byte of a primitive `[n]`. */
export const context = (number: number): number => 0x80 | number;
/** Returns the first byte of a constructed `[n]`. */
export const constructed = (number: number): number => 0xa0 | number;

export interface Element {
  readonly tag: number;
  /** The contents, without tag and length. */
  readonly value: Buffer;
  /** The tag, length and contents. */
  readonly fullBytes: Buffer;
}

const maxLengthBytes = 4;
/** More than any real structure has, and few enough not to block others for long. */
export const maxElements = 10_000;

/**
 * Reads one element after another. An element that is malformed, not minimal, indefinite or incomplete reads as
 * undefined and leaves the cursor before it; so does any after 10,000 others. Nothing is read twice, and nested
 * elements are only read on request.
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

  /** Whether the next element has this tag. */
  nextIs(tag: number): boolean {
    return this.#bytes[this.#at] === tag;
  }

  /** Reads the next element, whatever it is. Tags above 30 are not supported. */
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
    const element = bytes.subarray(this.#at, contents + length);
    this.#at = contents + length;
    return { tag, value: element.subarray(element.length - length), fullBytes: element };
  }

  /** Reads the next element, if it has this tag, and returns its contents. */
  read(tag: number): Buffer | undefined {
    return this.element(tag)?.value;
  }

  /** Reads the next element, if it has this tag. */
  element(tag: number): Element | undefined {
    return this.nextIs(tag) ? this.any() : undefined;
  }

  /** Reads the next element, if it has this tag, and returns a cursor over its contents. */
  enter(tag: number): DerCursor | undefined {
    const value = this.read(tag);
    return value && new DerCursor(value);
  }

  /** Reads an INTEGER, and returns it as minimal two's complement. */
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

/** Whether an INTEGER is not empty and has no redundant leading byte. */
export const isMinimalInteger = (bytes: Buffer): boolean => {
  const [first, second] = bytes;
  if (first === undefined) return false;
  if (second === undefined) return true;
  return !((first === 0 && second < 0x80) || (first === 0xff && second >= 0x80));
};

/** Returns the value of a minimal INTEGER; undefined if it has more than 64 bits. */
export const smallInteger = (bytes: Buffer): bigint | undefined =>
  bytes.length > 8 ? undefined : BigInt.asIntN(8 * bytes.length, BigInt(`0x${bytes.toString('hex')}`));

export interface BitString {
  readonly bytes: Buffer;
  readonly unusedBits: number;
}

/** Returns the contents of a BIT STRING; undefined if the padding is invalid. */
export function bitString(value: Buffer): BitString | undefined {
  const unusedBits = value[0];
  if (unusedBits === undefined || unusedBits > 7 || (value.length === 1 && unusedBits > 0)) return undefined;
  const last = value.length === 1 ? 0 : (value.at(-1) ?? 0);
  if (last & ((1 << unusedBits) - 1)) return undefined;
  return { bytes: value.subarray(1), unusedBits };
}

/** Returns the bits of a BIT STRING as a number without its padding, as keys and signatures are read. */
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
/** More than any real identifier has; the text is several times as long. */
export const maxOidBytes = 64;

/**
 * Returns the dotted form of an object identifier; undefined if it is malformed, too long, or an arc exceeds 31 bits.
 */
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
