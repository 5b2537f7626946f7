import { goJson } from '../api/go-text.js';
import { largeJson } from '../api/json-pieces.js';
import { JsonSyntaxError, readJson } from '../api/json-text.js';
import { type Json, type JsonObject, setMember } from '../api/object.js';
import type { Steps } from '../api/steps.js';
import { microTimestamp, timestamp } from '../api/time.js';
import { DecodeError } from './decode.js';
import { goFieldName, itemsOf, structName, valuesOf, type WireShape, wireShape } from './go-types.js';
import { listMeta } from './meta.js';
import { isPointer } from './presence.js';
import type { Schema } from './schema.js';
import { ProtobufError, WireReader, WireWriter, wireTypes } from './wire-format.js';

/**
 * Built-in kinds in protocol buffers, by the field numbers of their schemas. Members without a number (`kind`,
 * `apiVersion`) travel in the envelope.
 *
 * Written as Go's generated code does: everything that is no pointer is written, zero values too, fields by number,
 * map entries by key. Read values are plain JSON of the same form and still go through decoding for their canonical
 * form: messages given in parts add up, of scalars the last counts, unknown fields are passed over.
 */
export { ProtobufError } from './wire-format.js';

const prefix = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
/** Deepest nesting of messages that is read. */
const maxDepth = 200;
/** A large message is read in steps of so many fields. */
const fieldsInStep = 512;

/** Throws ProtobufError. */
export function* decodeProtobuf(schema: Schema, bytes: Uint8Array): Steps<JsonObject> {
  const out: Record<string, Json> = {};
  const reader = new WireReader(bytes);
  const message = messageOf(schema);
  if (bytes.length < largeJson) message.readInto(out, reader, 0);
  else yield* message.readInSteps(out, reader, 0);
  return out;
}

export function encodeProtobuf(schema: Schema, value: Json): Buffer {
  const writer = new WireWriter();
  messageOf(schema).write(writer, asObject(value));
  return writer.finish();
}

/** An envelope taken apart. */
export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  /** The message. A view of the given bytes. */
  readonly raw: Buffer;
}

/** Takes an envelope (`k8s\0` and a runtime.Unknown) apart. Throws ProtobufError. */
export function readEnvelope(bytes: Uint8Array): Envelope {
  if (bytes.length === 0) throw new ProtobufError('empty data');
  if (!prefix.equals(bytes.subarray(0, prefix.length))) {
    throw new ProtobufError(
      `provided data does not appear to be a protobuf message, expected prefix [${[...prefix].join(' ')}]`,
    );
  }
  if (bytes.length === prefix.length) throw new ProtobufError('empty body');
  const found: { -readonly [member in keyof Envelope]: Envelope[member] } = {
    apiVersion: '',
    kind: '',
    raw: Buffer.alloc(0),
  };
  readFields(new WireReader(bytes, prefix.length), unknown, (field, value) => {
    if (field === 'TypeMeta') Object.assign(found, readTypeMeta(bytesOf(value)));
    else if (field === 'Raw') found.raw = bytesOf(value);
  });
  return found;
}

function readTypeMeta(bytes: Buffer): Partial<Envelope> {
  const found: { apiVersion?: string; kind?: string } = {};
  readFields(new WireReader(bytes), typeMeta, (field, value) => {
    found[field === 'Kind' ? 'kind' : 'apiVersion'] = bytesOf(value).toString('utf8');
  });
  return found;
}

/**
 * An object in its envelope, as plain JSON. If the envelope is of another kind than the schema, only `kind` and
 * `apiVersion` are answered. Throws ProtobufError if the envelope cannot be read, and DecodeError if what is in it cannot.
 */
export function* decodeEnvelope(schema: Schema, bytes: Uint8Array): Steps<JsonObject> {
  const { apiVersion, kind, raw } = readEnvelope(bytes);
  const typeMeta = { ...(apiVersion === '' ? {} : { apiVersion }), ...(kind === '' ? {} : { kind }) };
  if (kind !== '' && kind !== structName(schema)) return typeMeta;
  try {
    return { ...(yield* decodeProtobuf(schema, raw)), ...typeMeta };
  } catch (error) {
    throw error instanceof ProtobufError ? new DecodeError(error.message) : error;
  }
}

/** Puts a message into its envelope. */
export function encodeEnvelope(
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  raw: Uint8Array,
): Buffer {
  const writer = new WireWriter();
  writeText(writer, 4, '');
  writeText(writer, 3, '');
  writeBytes(writer, 2, raw);
  const before = writer.length;
  writeText(writer, 2, kind);
  writeText(writer, 1, apiVersion);
  writer.close(1, before);
  writer.raw(prefix);
  return writer.finish();
}

/** An object with its `kind` and `apiVersion`, in its envelope. */
export const encodeObject = (schema: Schema, object: JsonObject): Buffer =>
  encodeEnvelope(
    { apiVersion: String(object['apiVersion'] ?? ''), kind: String(object['kind'] ?? '') },
    encodeProtobuf(schema, object),
  );

/** The same of a large object. */
export function* encodeObjectInSteps(schema: Schema, object: JsonObject): Steps<Buffer> {
  const writer = new WireWriter();
  yield* messageOf(schema).writeInSteps(writer, object);
  yield;
  const type = { apiVersion: String(object['apiVersion'] ?? ''), kind: String(object['kind'] ?? '') };
  return encodeEnvelope(type, writer.finish());
}

/** Metadata of a list, as the beginning of its message. */
export function encodeListMeta(metadata: JsonObject): Buffer {
  const writer = new WireWriter();
  messageOf(listMeta).write(writer, metadata);
  writer.close(1, 0);
  return writer.finish();
}

/** Items of a list, as a part of its message; `schema` is that of the items. */
export function encodeItems(schema: Schema, items: readonly Json[]): Buffer {
  const writer = new WireWriter();
  const item = messageOf(schema);
  for (let at = items.length - 1; at >= 0; at--) {
    const before = writer.length;
    item.write(writer, asObject(items[at] ?? null));
    writer.close(2, before);
  }
  return writer.finish();
}

/** The same where some of them are large. */
export function* encodeItemsInSteps(schema: Schema, items: readonly Json[]): Steps<Buffer> {
  const writer = new WireWriter();
  const item = messageOf(schema);
  for (let at = items.length - 1; at >= 0; at--) {
    const before = writer.length;
    yield* item.writeInSteps(writer, asObject(items[at] ?? null));
    writer.close(2, before);
    yield;
  }
  return writer.finish();
}

/** A watch event with its length in front, as a stream of events carries it. `object` is in its envelope. */
export function encodeWatchEvent(type: string, object: Uint8Array): Buffer {
  const writer = new WireWriter();
  const before = writer.length;
  writeBytes(writer, 1, object);
  writer.close(2, before);
  writeText(writer, 1, type);
  const event = writer.finish();
  const frame = Buffer.allocUnsafe(4 + event.length);
  frame.writeUInt32BE(event.length);
  event.copy(frame, 4);
  return frame;
}

function writeText(writer: WireWriter, number: number, text: string): void {
  const before = writer.length;
  writer.text(text);
  writer.close(number, before);
}

function writeBytes(writer: WireWriter, number: number, bytes: Uint8Array): void {
  const before = writer.length;
  writer.raw(bytes);
  writer.close(number, before);
}

type JsonMembers = Readonly<Record<string, Json>>;
const asObject = (value: Json): JsonMembers =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};

/** A message: a struct, or one of the few types with a message of their own. */
interface Message {
  readInto(out: Record<string, Json>, reader: WireReader, depth: number): void;
  readInSteps(out: Record<string, Json>, reader: WireReader, depth: number): Steps<void>;
  write(writer: WireWriter, value: JsonMembers): void;
  writeInSteps(writer: WireWriter, value: JsonMembers): Steps<void>;
}

/** A value in the place of a field, list item or map value. */
interface Codec {
  readonly type: number;
  /** `previous` is what was read under the same number before. */
  read(reader: WireReader, depth: number, previous: Json | undefined): Json;
  /** The same of a large message, or a list's item that is one. */
  readonly readInSteps?: (reader: WireReader, depth: number, previous: Json | undefined) => Steps<Json>;
  /** Writes value, length and tag. `undefined` and null are the zero value. */
  write(writer: WireWriter, number: number, value: Json | undefined): void;
  /** The same of what may be large. */
  readonly writeInSteps?: (writer: WireWriter, number: number, value: Json | undefined) => Steps<void>;
}

interface Field {
  readonly name: string;
  readonly number: number;
  readonly shape: WireShape;
  readonly codec: Codec;
  /** Not written when absent. */
  readonly skipsAbsent: boolean;
  /** Of a message that Go embeds: its fields are members of the struct around it. `codec` does not count. */
  readonly embedded?: Message;
}

const messages = new WeakMap<Schema, Message>();

function messageOf(schema: Schema): Message {
  const known = messages.get(schema);
  if (known !== undefined) return known;
  const message = structMessage(schema);
  messages.set(schema, message);
  return message;
}

/** Shapes that Go's code leaves out when they are nil, pointer or not. */
const nilable: ReadonlySet<WireShape> = new Set<WireShape>(['list', 'map', 'bytes', 'union']);

function structMessage(schema: Schema): Message {
  const name = structName(schema);
  let fields: readonly Field[] | undefined;
  let byNumber = new Map<number, Field>();
  const compile = (): readonly Field[] => {
    const properties = [...(schema.properties ?? [])];
    const own = properties.flatMap(([member, of]): readonly Field[] => {
      const number = of.wire?.number;
      if (number === undefined || of.wire?.within !== undefined) return [];
      const shape = wireShape(of);
      const skipsAbsent = isPointer(of) || nilable.has(shape);
      return [{ name: member, number, shape, codec: fieldCodec(of), skipsAbsent }];
    });
    const all = [...own, ...embeddedFields(schema)];
    byNumber = new Map(all.map((field) => [field.number, field]));
    return all.sort((a, b) => b.number - a.number);
  };
  const begin = (depth: number): void => {
    fields ??= compile();
    if (depth > maxDepth) throw new ProtobufError('exceeded max depth');
  };
  /** Answers how to read what has steps of its own. */
  const readField = (
    out: Record<string, Json>,
    reader: WireReader,
    depth: number,
    inSteps: boolean,
  ): Steps<void> | undefined => {
    const { number, type } = reader.tag(name);
    const field = byNumber.get(number);
    if (field === undefined) reader.skip(type);
    else if (type === field.codec.type) {
      const { codec, embedded } = field;
      const isLarge = inSteps && type === wireTypes.bytes && reader.nextLength() >= largeJson;
      if (embedded !== undefined) {
        const inner = new WireReader(reader.bytes());
        if (isLarge) return embedded.readInSteps(out, inner, depth + 1);
        embedded.readInto(out, inner, depth + 1);
      } else if (isLarge && codec.readInSteps !== undefined)
        return setInSteps(out, field.name, codec.readInSteps(reader, depth, out[field.name]));
      else out[field.name] = codec.read(reader, depth, out[field.name]);
    } else if (field.shape === 'list' && type === wireTypes.bytes) {
      out[field.name] = readPacked(field.codec, reader, depth, out[field.name]);
    } else {
      throw wrongWireType(type, goFieldName(field.name));
    }
    return undefined;
  };
  return {
    readInto: (out, reader, depth) => {
      begin(depth);
      while (!reader.done) readField(out, reader, depth, false);
    },
    *readInSteps(out, reader, depth) {
      begin(depth);
      for (let count = 1; !reader.done; count++) {
        const rest = readField(out, reader, depth, true);
        if (rest !== undefined) yield* rest;
        if (count % fieldsInStep === 0) yield;
      }
    },
    write: (writer, value) => {
      fields ??= compile();
      for (const { name: member, number, codec, skipsAbsent, embedded } of fields) {
        if (embedded !== undefined) {
          const before = writer.length;
          embedded.write(writer, value);
          writer.close(number, before);
          continue;
        }
        const given = value[member];
        if (skipsAbsent && (given === undefined || given === null)) continue;
        codec.write(writer, number, given);
      }
    },
    *writeInSteps(writer, value) {
      fields ??= compile();
      for (const { name: member, number, codec, skipsAbsent, embedded } of fields) {
        const given = value[member];
        if (embedded !== undefined) {
          const before = writer.length;
          yield* embedded.writeInSteps(writer, value);
          writer.close(number, before);
        } else if (skipsAbsent && (given === undefined || given === null)) continue;
        else if (codec.writeInSteps !== undefined) yield* codec.writeInSteps(writer, number, given);
        else codec.write(writer, number, given);
      }
    },
  };
}

function* setInSteps(out: Record<string, Json>, name: string, value: Steps<Json>): Steps<void> {
  out[name] = yield* value;
}

/** One field for each message that Go embeds in a struct; it is always written, like any struct. */
function embeddedFields(schema: Schema): readonly Field[] {
  const groups = new Map<number, { readonly name: string; readonly members: [string, Schema][] }>();
  for (const [member, of] of schema.properties ?? []) {
    const within = of.wire?.within;
    if (within === undefined) continue;
    const { within: _, ...wire } = of.wire ?? {};
    const group = groups.get(within.number) ?? { name: within.struct, members: [] };
    group.members.push([member, { ...of, wire }]);
    groups.set(within.number, group);
  }
  return [...groups].map(([number, { name, members }]) => {
    const embedded = structMessage({ ...schema, properties: new Map(members) });
    return {
      name,
      number,
      shape: 'struct',
      codec: message(() => embedded),
      skipsAbsent: false,
      embedded,
    };
  });
}

/** Numbers of a list may come all in one length-delimited field. */
function readPacked(codec: Codec, reader: WireReader, depth: number, previous: Json | undefined): Json {
  const inner = new WireReader(reader.bytes());
  let out = previous;
  while (!inner.done) out = codec.read(inner, depth, out);
  return out ?? [];
}

const codecs = new WeakMap<Schema, Codec>();

/** The codec of a field: lists and maps are repeated fields, unless they are messages of their own. */
function fieldCodec(schema: Schema): Codec {
  const known = codecs.get(schema);
  if (known !== undefined) return known;
  const shape = wireShape(schema);
  const codec =
    shape === 'list' && schema.wire?.wrapped !== true
      ? repeated(elementCodec(itemsOf(schema)))
      : shape === 'map'
        ? entries(schema)
        : elementCodec(schema);
  codecs.set(schema, codec);
  return codec;
}

/** The codec of a single value. A list that is one is a message with the items in field 1. */
function elementCodec(schema: Schema): Codec {
  const shape = wireShape(schema);
  if (shape === 'struct') return message(() => messageOf(schema));
  if (shape === 'union') return union(schema);
  if (shape === 'list' || shape === 'map') return nested(schema);
  return scalars[shape];
}

function repeated(item: Codec): Codec {
  return {
    type: item.type,
    read: (reader, depth, previous) => {
      const items = Array.isArray(previous) ? (previous as Json[]) : [];
      items.push(item.read(reader, depth, undefined));
      return items;
    },
    *readInSteps(reader, depth, previous) {
      const items = Array.isArray(previous) ? (previous as Json[]) : [];
      const { readInSteps } = item;
      items.push(readInSteps ? yield* readInSteps(reader, depth, undefined) : item.read(reader, depth, undefined));
      return items;
    },
    write: (writer, number, value) => {
      const items = Array.isArray(value) ? (value as readonly Json[]) : [];
      for (let at = items.length - 1; at >= 0; at--) item.write(writer, number, items[at]);
    },
    *writeInSteps(writer, number, value) {
      const items = Array.isArray(value) ? (value as readonly Json[]) : [];
      for (let at = items.length - 1; at >= 0; at--) {
        if (item.writeInSteps !== undefined) yield* item.writeInSteps(writer, number, items[at]);
        else item.write(writer, number, items[at]);
        if (at % fieldsInStep === 0) yield;
      }
    },
  };
}

function entries(schema: Schema): Codec {
  const values = valuesOf(schema);
  let value: Codec | undefined;
  const writeEntry = (writer: WireWriter, number: number, name: string, of: Json | undefined): void => {
    value ??= elementCodec(values);
    const before = writer.length;
    value.write(writer, 2, of);
    writeText(writer, 1, name);
    writer.close(number, before);
  };
  return {
    type: wireTypes.bytes,
    read: (reader, depth, previous) => {
      value ??= elementCodec(values);
      const out = (previous ?? {}) as Record<string, Json>;
      let name = '';
      let read: Json | undefined;
      const of = value;
      reader.entry((number) => {
        if (number === 1) name = reader.bytes().toString('utf8');
        else if (number === 2) read = of.read(reader, depth + 1, read);
        return number === 1 || number === 2;
      });
      setMember(out, name, read ?? (wireShape(values) === 'list' ? [] : null));
      return out;
    },
    write: (writer, number, given) => {
      const members = asObject(given ?? null);
      for (const name of Object.keys(members).sort().reverse()) writeEntry(writer, number, name, members[name]);
    },
    *writeInSteps(writer, number, given) {
      const members = asObject(given ?? null);
      const names = Object.keys(members).sort();
      for (let at = names.length - 1; at >= 0; at--) {
        const name = names[at] as string;
        writeEntry(writer, number, name, members[name]);
        if (at % fieldsInStep === 0) yield;
      }
    },
  };
}

const message = (of: () => Message): Codec => ({
  type: wireTypes.bytes,
  read: (reader, depth, previous) => {
    const out = (previous ?? {}) as Record<string, Json>;
    of().readInto(out, new WireReader(reader.bytes()), depth + 1);
    return out;
  },
  *readInSteps(reader, depth, previous) {
    const out = (previous ?? {}) as Record<string, Json>;
    yield* of().readInSteps(out, new WireReader(reader.bytes()), depth + 1);
    return out;
  },
  write: (writer, number, value) => {
    const before = writer.length;
    of().write(writer, asObject(value ?? null));
    writer.close(number, before);
  },
  *writeInSteps(writer, number, value) {
    const before = writer.length;
    yield* of().writeInSteps(writer, asObject(value ?? null));
    writer.close(number, before);
  },
});

/** `{ items: [...] }` around a list or map that is itself an item or a map's value, or a message of its own. */
function nested(schema: Schema): Codec {
  const wrapper: Schema = {
    type: 'object',
    properties: new Map([['items', { ...schema, wire: { number: 1 } }]]),
    wire: { go: schema.wire?.go ?? 'Items' },
  };
  const codec = message(() => messageOf(wrapper));
  return {
    type: codec.type,
    read: (reader, depth, previous) => {
      const read = codec.read(reader, depth, previous === undefined ? undefined : { items: previous });
      return asObject(read)['items'] ?? (wireShape(schema) === 'list' ? [] : {});
    },
    write: (writer, number, value) => codec.write(writer, number, value === undefined ? {} : { items: value }),
  };
}

/** A message with one field per alternative; a boolean says whether there is anything, so it goes with a schema too. */
function union(schema: Schema): Codec {
  const alternatives = (schema.oneOf ?? []).map((of) => ({
    shape: wireShape(of),
    number: of.wire?.number ?? 0,
    codec: (): Codec => fieldCodec(of),
  }));
  const flag = alternatives.find(({ shape }) => shape === 'boolean');
  const shapeOf = (value: Json): WireShape =>
    typeof value === 'boolean' ? 'boolean' : Array.isArray(value) ? 'list' : 'struct';
  return {
    type: wireTypes.bytes,
    read: (reader, depth, previous) => {
      if (depth > maxDepth) throw new ProtobufError('exceeded max depth');
      const inner = new WireReader(reader.bytes());
      const found = new Map<WireShape, Json>();
      if (previous !== undefined && previous !== null) found.set(shapeOf(previous), previous);
      while (!inner.done) {
        const { number, type } = inner.tag(structName(schema));
        const alternative = alternatives.find((each) => each.number === number);
        if (alternative === undefined || alternative.codec().type !== type) inner.skip(type);
        else found.set(alternative.shape, alternative.codec().read(inner, depth + 1, found.get(alternative.shape)));
      }
      return found.get('list') ?? found.get('struct') ?? found.get('boolean') ?? (flag === undefined ? null : false);
    },
    write: (writer, number, value) => {
      const before = writer.length;
      const given = value ?? null;
      const chosen = given === null ? undefined : alternatives.find(({ shape }) => shape === shapeOf(given));
      const parts = [
        ...(chosen === undefined ? [] : [{ ...chosen, value: given }]),
        ...(flag === undefined || chosen === flag ? [] : [{ ...flag, value: chosen !== undefined }]),
      ].sort((a, b) => b.number - a.number);
      for (const part of parts) part.codec().write(writer, part.number, part.value);
      writer.close(number, before);
    },
  };
}

const text = (value: Json | undefined, zero = ''): string => (typeof value === 'string' ? value : zero);
const number = (value: Json | undefined): number => {
  const given = typeof value === 'bigint' ? Number(value) : value;
  return typeof given === 'number' && Number.isFinite(given) ? given : 0;
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

/** A message that is not a struct in JSON: its name in Go, and fields by number. */
interface PlainMessage {
  readonly name: string;
  readonly fields: Readonly<Record<number, { readonly name: string; readonly type: number }>>;
}
const plain = (name: string, ...fields: readonly (readonly [string, keyof typeof wireTypes])[]): PlainMessage => ({
  name,
  fields: Object.fromEntries(fields.map(([of, type], at) => [at + 1, { name: of, type: wireTypes[type] }])),
});
const unknown = plain(
  'Unknown',
  ['TypeMeta', 'bytes'],
  ['Raw', 'bytes'],
  ['ContentEncoding', 'bytes'],
  ['ContentType', 'bytes'],
);
const typeMeta = plain('TypeMeta', ['APIVersion', 'bytes'], ['Kind', 'bytes']);
const goTime = plain('Timestamp', ['Seconds', 'varint'], ['Nanos', 'varint']);
const quantity = plain('Quantity', ['String_', 'bytes']);
const intOrString = plain('IntOrString', ['Type', 'varint'], ['IntVal', 'varint'], ['StrVal', 'bytes']);
const rawExtension = plain('RawExtension', ['Raw', 'bytes']);

/** Each field in the order they came. */
function readFields(
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

function smallFields(bytes: Buffer, message: PlainMessage): ReadonlyMap<string, bigint | Buffer> {
  const found = new Map<string, bigint | Buffer>();
  readFields(new WireReader(bytes), message, (field, value) => found.set(field, value));
  return found;
}

const wrongWireType = (type: number, field: string): ProtobufError =>
  new ProtobufError(`proto: wrong wireType = ${type} for field ${field}`);

const integerOf = (value: bigint | Buffer | undefined): bigint => (typeof value === 'bigint' ? value : 0n);
const bytesOf = (value: bigint | Buffer | undefined): Buffer => (Buffer.isBuffer(value) ? value : Buffer.alloc(0));

/** Years 1 to 9999; what is outside cannot be written in RFC 3339. */
const firstSecond = -62_135_596_800n;
const lastSecond = 253_402_300_799n;

/** Seconds and nanoseconds since the epoch; an empty message is no time at all. */
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
      const given = text(value);
      const milliseconds = Date.parse(given);
      if (Number.isNaN(milliseconds)) return;
      const fraction = /\.(\d{1,9})/.exec(given)?.[1] ?? '';
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

const scalars: Readonly<Record<Exclude<WireShape, 'struct' | 'list' | 'map' | 'union'>, Codec>> = {
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
    (bytes) => bytesOf(smallFields(bytes, quantity).get('String_')).toString('utf8'),
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
