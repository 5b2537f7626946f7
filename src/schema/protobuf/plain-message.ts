import { ProtobufError, WireReader, type WireWriter, wireTypes } from './wire-format.js';

/** A message that is not a struct in JSON, with its name in Go and its fields by number. */
export interface PlainMessage {
  readonly name: string;
  readonly fields: Readonly<Record<number, { readonly name: string; readonly type: number }>>;
}
export const plainMessage = (
  name: string,
  ...fields: readonly (readonly [string, keyof typeof wireTypes])[]
): PlainMessage => ({
  name,
  fields: Object.fromEntries(fields.map(([of, type], at) => [at + 1, { name: of, type: wireTypes[type] }])),
});

/** Reads the fields of a message in the order in which they occur. */
export function readFields(
  reader: WireReader,
  { name, fields }: PlainMessage,
  take: (field: string, value: bigint | Buffer) => void,
): void {
  while (!reader.done) {
    const { number: at, type } = reader.tag(name);
    const field = fields[at];
    if (field === undefined) reader.skip(type);
    else if (field.type !== type) throw wrongWireType(type, field.name);
    else take(field.name, type === wireTypes.varint ? reader.int64() : reader.bytes());
  }
}

export function smallFields(bytes: Buffer, message: PlainMessage): ReadonlyMap<string, bigint | Buffer> {
  const found = new Map<string, bigint | Buffer>();
  readFields(new WireReader(bytes), message, (field, value) => found.set(field, value));
  return found;
}

export const wrongWireType = (type: number, field: string): ProtobufError =>
  new ProtobufError(`proto: wrong wireType = ${type} for field ${field}`);

export const integerOf = (value: bigint | Buffer | undefined): bigint => (typeof value === 'bigint' ? value : 0n);
export const bytesOf = (value: bigint | Buffer | undefined): Buffer =>
  Buffer.isBuffer(value) ? value : Buffer.alloc(0);

export function writeText(writer: WireWriter, number: number, text: string): void {
  const before = writer.length;
  writer.text(text);
  writer.close(number, before);
}

export function writeBytes(writer: WireWriter, number: number, bytes: Uint8Array): void {
  const before = writer.length;
  writer.raw(bytes);
  writer.close(number, before);
}
