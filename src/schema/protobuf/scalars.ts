import { goJson } from '../../api/go-text.js';
import { JsonSyntaxError, readJson } from '../../api/json-text.js';
import type { Json } from '../../api/object.js';
import { microTimestamp, timestamp } from '../../api/time.js';
import type { WireShape } from '../go-types.js';
import type { Codec } from './codec.js';
import { bytesOf, integerOf, plainMessage, smallFields, writeBytes, writeText } from './plain-message.js';
import { ProtobufError, type WireReader, type WireWriter, wireTypes } from './wire-format.js';

const text = (value: Json | undefined, zero = ''): string => (typeof value === 'string' ? value : zero);
const number = (value: Json | undefined): number => {
  const converted = typeof value === 'bigint' ? Number(value) : value;
  return typeof converted === 'number' && Number.isFinite(converted) ? converted : 0;
};

const varint = (read: (reader: WireReader) => Json, write: (value: Json | undefined) => number | bigint): Codec => ({
  type: wireTypes.varint,
  read,
  write: (writer, at, value) => {
    writer.varint(write(value));
    writer.tag(at, wireTypes.varint);
  },
});

const delimited = (
  read: (bytes: Buffer, depth: number) => Json,
  write: (writer: WireWriter, value: Json | undefined) => void,
): Codec => ({
  type: wireTypes.bytes,
  read: (reader, depth) => read(reader.bytes(), depth),
  write: (writer, at, value) => {
    const before = writer.length;
    write(writer, value);
    writer.close(at, before);
  },
});

const goTime = plainMessage('Timestamp', ['Seconds', 'varint'], ['Nanos', 'varint']);
const quantity = plainMessage('Quantity', ['String_', 'bytes']);
const intOrString = plainMessage('IntOrString', ['Type', 'varint'], ['IntVal', 'varint'], ['StrVal', 'bytes']);
const rawExtension = plainMessage('RawExtension', ['Raw', 'bytes']);

/** The range of times in seconds since the epoch: the years 1 to 9999. RFC 3339 cannot express others. */
const firstSecond = -62_135_596_800n;
const lastSecond = 253_402_300_799n;

/** Returns a codec for times, which are seconds and nanoseconds since the epoch. An empty message is an absent time. */
const timeCodec = (precise: boolean): Codec =>
  delimited(
    (bytes) => {
      if (bytes.length === 0) return null;
      const fields = smallFields(bytes, goTime);
      const seconds = integerOf(fields.get('Seconds'));
      if (seconds < firstSecond || seconds > lastSecond) throw new ProtobufError('proto: Timestamp: out of range');
      const milliseconds = Number(seconds) * 1_000;
      if (!precise) return timestamp(milliseconds);
      const micros = Math.trunc(Number(BigInt.asIntN(32, integerOf(fields.get('Nanos')))) / 1_000);
      if (micros < 0 || micros > 999_999) throw new ProtobufError('proto: Timestamp: out of range');
      return `${microTimestamp(milliseconds).slice(0, 20)}${String(micros).padStart(6, '0')}Z`;
    },
    (writer, value) => {
      const timeText = text(value);
      const milliseconds = Date.parse(timeText);
      if (Number.isNaN(milliseconds)) return;
      const fraction = /\.(\d{1,9})/.exec(timeText)?.[1] ?? '';
      writer.varint(precise ? Number(fraction.padEnd(9, '0')) : 0);
      writer.tag(2, wireTypes.varint);
      writer.varint(BigInt(Math.floor(milliseconds / 1_000)));
      writer.tag(1, wireTypes.varint);
    },
  );

function parseRaw(bytes: Buffer): Json {
  if (bytes.length === 0) return null;
  try {
    return readJson(bytes).value;
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw new ProtobufError(error.message);
    throw error;
  }
}

/** The codecs of values that are neither structs nor lists nor maps. */
export const scalars: Readonly<Record<Exclude<WireShape, 'struct' | 'list' | 'map' | 'union'>, Codec>> = {
  string: delimited(
    (bytes) => bytes.toString('utf8'),
    (writer, value) => writer.text(text(value)),
  ),
  bytes: delimited(
    (bytes) => bytes.toString('base64'),
    (writer, value) => writer.raw(Buffer.from(text(value), 'base64')),
  ),
  boolean: varint(
    (reader) => reader.varint() !== 0n,
    (value) => (value === true ? 1 : 0),
  ),
  int32: varint(
    (reader) => reader.int32(),
    (value) => Math.trunc(number(value)),
  ),
  int64: varint(
    (reader) => {
      const value = reader.int64();
      return Number.isSafeInteger(Number(value)) ? Number(value) : value;
    },
    (value) => (typeof value === 'bigint' ? value : Math.trunc(number(value))),
  ),
  double: {
    type: wireTypes.fixed64,
    read: (reader) => {
      const value = reader.double();
      return Number.isFinite(value) ? value : 0;
    },
    write: (writer, at, value) => {
      writer.double(number(value));
      writer.tag(at, wireTypes.fixed64);
    },
  },
  time: timeCodec(false),
  'micro-time': timeCodec(true),
  quantity: delimited(
    (bytes) => smallFields(bytes, quantity).get('String_')?.toString() ?? '0',
    (writer, value) => writeText(writer, 1, text(value, '0')),
  ),
  'int-or-string': delimited(
    (bytes) => {
      const fields = smallFields(bytes, intOrString);
      return integerOf(fields.get('Type')) === 1n
        ? bytesOf(fields.get('StrVal')).toString('utf8')
        : Number(BigInt.asIntN(32, integerOf(fields.get('IntVal'))));
    },
    (writer, value) => {
      writeText(writer, 3, text(value));
      writer.varint(number(value));
      writer.tag(2, wireTypes.varint);
      writer.varint(typeof value === 'string' ? 1 : 0);
      writer.tag(1, wireTypes.varint);
    },
  ),
  raw: delimited(
    (bytes) => parseRaw(bytesOf(smallFields(bytes, rawExtension).get('Raw'))),
    (writer, value) => {
      if (value !== undefined && value !== null) writeBytes(writer, 1, Buffer.from(goJson(value)));
    },
  ),
};
