import { BinaryReader } from '@bufbuild/protobuf/wire';

/** The functions that read the fields of a message, by number. */
export type FieldReaders = Readonly<Record<number, (reader: BinaryReader) => void>>;

/** Reads each field by its number, and skips those that are not in the table. */
export function readFields(bytes: Uint8Array, table: FieldReaders): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    const read = table[field];
    if (read === undefined) reader.skip(wireType, field);
    else read(reader);
  }
}

/** The wire type of texts, bytes and messages: length-delimited. */
export const delimited = 2;
/** The wire type of numbers. */
export const varint = 0;

/** Returns the same bytes as a Buffer, which gRPC expects for messages. */
export const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
