import { maxInt64 } from '../../api/go-integers.js';

/** The wire format of protocol buffers: tags, varints, lengths. It is independent of schemas. */

/** Thrown for bytes that are not a valid message. The text is that of Go's generated code. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
}

export const wireTypes = { varint: 0, fixed64: 1, bytes: 2, startGroup: 3, endGroup: 4, fixed32: 5 } as const;

const truncated = 'unexpected EOF';
const overflow = 'proto: integer overflow';

/** The maximum number of fields of one message, not counting those of nested messages. */
const maxFields = 50_000;

/** Reads one message from front to back. */
export class WireReader {
  readonly #bytes: Buffer;
  #at: number;
  readonly #end: number;
  #fields = 0;
  /** The number of bytes that were read beyond the ends of map entries and are read again. */
  #beyond = 0;

  constructor(bytes: Uint8Array, from = 0) {
    this.#bytes = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#at = from;
    this.#end = bytes.length;
  }

  /** The number of bytes read so far. */
  get position(): number {
    return this.#at;
  }

  get done(): boolean {
    return this.#at >= this.#end;
  }

  #byte(): number {
    if (this.#at >= this.#end) throw new ProtobufError(truncated);
    return this.#bytes[this.#at++] as number;
  }

  /** Reads the field number and wire type of the next field. */
  tag(message: string): { readonly number: number; readonly type: number } {
    if (++this.#fields > maxFields) throw new ProtobufError(`proto: ${message}: exceeded ${maxFields} fields`);
    const first = this.#bytes[this.#at] ?? 0x80;
    if (first > 7 && first < 0x80 && (first & 7) !== wireTypes.endGroup && !this.done) {
      this.#at++;
      return { number: first >> 3, type: first & 7 };
    }
    const tag = this.varint();
    const number = Number(BigInt.asIntN(32, tag >> 3n));
    const type = Number(tag & 7n);
    if (type === wireTypes.endGroup) throw new ProtobufError(`proto: ${message}: wiretype end group for non-group`);
    if (number <= 0) throw new ProtobufError(`proto: ${message}: illegal tag ${number} (wire type ${tag})`);
    return { number, type };
  }

  /** Reads an unsigned integer of 64 bits; up to 28 bits it is a number. */
  #number(): number | bigint {
    let low = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#byte();
      low |= (byte & 0x7f) << shift;
      if (byte < 0x80) return low;
    }
    let value = BigInt(low);
    for (let shift = 28n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new ProtobufError(overflow);
  }

  /** Reads an unsigned integer of 64 bits. */
  varint(): bigint {
    return BigInt(this.#number());
  }

  int64(): bigint {
    return BigInt.asIntN(64, this.varint());
  }

  int32(): number {
    const value = this.#number();
    return typeof value === 'number' ? value : Number(BigInt.asIntN(32, value));
  }

  double(): number {
    if (this.#at + 8 > this.#end) throw new ProtobufError(truncated);
    const value = this.#bytes.readDoubleLE(this.#at);
    this.#at += 8;
    return value;
  }

  /** Returns the length that the next call of `bytes` would read, without consuming it. */
  nextLength(): number {
    const at = this.#at;
    const length = Number(this.#number());
    this.#at = at;
    return length;
  }

  /** Reads a length-delimited value. Returns a view, not a copy. */
  bytes(): Buffer {
    const end = this.#endOfNext();
    const start = this.#at;
    this.#at = end;
    return this.#bytes.subarray(start, end);
  }

  #endOfNext(): number {
    const length = this.#number();
    if (length > this.#end - this.#at) {
      // In Go a length, and the offset of its end, are signed integers of 64 bits.
      const isNegative = BigInt(length) + BigInt(this.#at) > maxInt64;
      throw new ProtobufError(isNegative ? 'proto: negative length found during unmarshaling' : truncated);
    }
    return this.#at + Number(length);
  }

  /**
   * Reads an entry of a map. Returns a function that reads its next field, and returns false at the end. `read` reads
   * the value of a field that it knows, and otherwise returns false. Like Go, this checks neither the types of key and
   * value nor whether they end within the entry. All entries together may read no more bytes beyond their ends than
   * there are in total: otherwise, entries of a few bytes could each read all that follows again.
   */
  entry(read: (number: number) => boolean): () => boolean {
    const end = this.#endOfNext();
    let fields = 0;
    return () => {
      if (this.#at < end) {
        if (++fields > maxFields) throw new ProtobufError(`proto: Entry: exceeded ${maxFields} fields`);
        this.#entryField(end, read);
        return true;
      }
      this.#beyond += this.#at - end;
      if (this.#beyond > this.#end) throw new ProtobufError(truncated);
      this.#at = end;
      return false;
    };
  }

  #entryField(end: number, read: (number: number) => boolean): void {
    const tag = this.#number();
    const number = typeof tag === 'number' ? tag >>> 3 : Number(BigInt.asIntN(32, tag >> 3n));
    if (read(number)) return;
    this.skip(Number(BigInt(tag) & 7n));
    if (this.#at > end) throw new ProtobufError(truncated);
  }

  /** Skips a value; a group is skipped with everything in it. */
  skip(type: number): void {
    let depth = 0;
    for (let next = type; ; ) {
      if (next === wireTypes.varint) this.varint();
      else if (next === wireTypes.fixed64) this.#pass(8);
      else if (next === wireTypes.bytes) this.bytes();
      else if (next === wireTypes.startGroup) depth++;
      else if (next === wireTypes.endGroup) {
        if (depth === 0) throw new ProtobufError('proto: unexpected end of group');
        depth--;
      } else if (next === wireTypes.fixed32) this.#pass(4);
      else throw new ProtobufError(`proto: illegal wireType ${next}`);
      if (depth === 0) return;
      next = Number(this.varint() & 7n);
    }
  }

  #pass(length: number): void {
    if (this.#at + length > this.#end) throw new ProtobufError(truncated);
    this.#at += length;
  }
}

const initialSize = 1_024;

/**
 * Writes one message from back to front, as Go's generated code does: when a length is to be written, the content that
 * it counts is complete.
 */
export class WireWriter {
  #bytes = Buffer.allocUnsafe(initialSize);
  #start = initialSize;

  /** The number of bytes written so far. */
  get length(): number {
    return this.#bytes.length - this.#start;
  }

  /** Returns the bytes written. Nothing may be written afterwards. */
  finish(): Buffer {
    return this.#bytes.subarray(this.#start);
  }

  #reserve(bytes: number): number {
    if (this.#start < bytes) {
      const { length } = this;
      const size = Math.max(this.#bytes.length * 2, length + bytes);
      const larger = Buffer.allocUnsafe(size);
      this.#bytes.copy(larger, size - length, this.#start);
      this.#bytes = larger;
      this.#start = size - length;
    }
    this.#start -= bytes;
    return this.#start;
  }

  raw(bytes: Uint8Array): void {
    const at = this.#reserve(bytes.length);
    this.#bytes.set(bytes, at);
  }

  text(text: string): void {
    const length = Buffer.byteLength(text);
    const at = this.#reserve(length);
    this.#bytes.write(text, at, 'utf8');
  }

  /** Writes an integer; negative ones take ten bytes. */
  varint(value: number | bigint): void {
    if (typeof value === 'number' && value >= 0 && value < 0x8000_0000) this.#small(value);
    else this.#large(BigInt(value));
  }

  #large(value: bigint): void {
    const bytes: number[] = [];
    let remaining = BigInt.asUintN(64, value);
    while (remaining >= 0x80n) {
      bytes.push(Number(remaining & 0x7fn) | 0x80);
      remaining >>= 7n;
    }
    bytes.push(Number(remaining));
    this.raw(Uint8Array.from(bytes));
  }

  #small(value: number): void {
    let size = 1;
    for (let remaining = value >>> 7; remaining !== 0; remaining >>>= 7) size++;
    let at = this.#reserve(size);
    let remaining = value;
    while (remaining >= 0x80) {
      this.#bytes[at++] = (remaining & 0x7f) | 0x80;
      remaining >>>= 7;
    }
    this.#bytes[at] = remaining;
  }

  double(value: number): void {
    const at = this.#reserve(8);
    this.#bytes.writeDoubleLE(value, at);
  }

  tag(number: number, type: number): void {
    this.varint(number * 8 + type);
  }

  /** Prefixes everything written since `before` (the writer's length at that time) with its length and a tag. */
  close(number: number, before: number): void {
    this.varint(this.length - before);
    this.tag(number, wireTypes.bytes);
  }
}
