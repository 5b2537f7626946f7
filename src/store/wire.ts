import { BinaryReader } from '@bufbuild/protobuf/wire';

/** What reads each field of a message, by its number. */
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

/** Length-delimited: what tags texts, bytes and messages. */
export const delimited = 2;
/** What tags numbers. */
export const varint = 0;

/** The same bytes, as gRPC takes messages. */
export const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
