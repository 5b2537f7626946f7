import { largeJson } from '../api/json-pieces.js';
import type { Json, JsonObject } from '../api/object.js';
import type { Steps } from '../api/steps.js';
import { DecodeError } from './decode-error.js';
import { structName } from './go-types.js';
import { listMeta } from './meta.js';
import { asObject, messageOf } from './protobuf/message.js';
import { bytesOf, plainMessage, readFields, writeBytes, writeText } from './protobuf/plain-message.js';
import { ProtobufError, WireReader, WireWriter } from './protobuf/wire-format.js';
import type { Schema } from './schema.js';

/**
 * Built-in kinds in protocol buffers, by the field numbers of their schemas. Members without a number (`kind`,
 * `apiVersion`) are part of the envelope.
 *
 * Writing follows Go's generated code: all fields except pointers are written, including zero values, in the order of
 * their numbers, and map entries in the order of their keys. Reading returns plain JSON of the same form, which still
 * has to be decoded into canonical form: messages in several parts are merged, the last of several scalars counts,
 * unknown fields are skipped.
 */

const prefix = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

const unknown = plainMessage(
  'Unknown',
  ['TypeMeta', 'bytes'],
  ['Raw', 'bytes'],
  ['ContentEncoding', 'bytes'],
  ['ContentType', 'bytes'],
);
const typeMeta = plainMessage('TypeMeta', ['APIVersion', 'bytes'], ['Kind', 'bytes']);

/** Decodes a message. Throws ProtobufError. */
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

/** A parsed envelope. */
export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  /** The message, as a view of the given bytes. */
  readonly raw: Buffer;
}

/** Parses an envelope (`k8s\0` and a runtime.Unknown). Throws ProtobufError. */
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
 * Decodes an object in its envelope to plain JSON. If the envelope is of another kind than the schema, only `kind` and
 * `apiVersion` are returned. Throws ProtobufError for an invalid envelope, and DecodeError for invalid content.
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

/** Wraps a message in its envelope. */
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

/** Encodes an object with its `kind` and `apiVersion`, in an envelope. */
export const encodeObject = (schema: Schema, object: JsonObject): Buffer =>
  encodeEnvelope(
    { apiVersion: String(object['apiVersion'] ?? ''), kind: String(object['kind'] ?? '') },
    encodeProtobuf(schema, object),
  );

/** Like `encodeObject`, in steps for a large object. */
export function* encodeObjectInSteps(schema: Schema, object: JsonObject): Steps<Buffer> {
  const writer = new WireWriter();
  yield* messageOf(schema).writeInSteps(writer, object);
  yield;
  const type = { apiVersion: String(object['apiVersion'] ?? ''), kind: String(object['kind'] ?? '') };
  return encodeEnvelope(type, writer.finish());
}

/** Encodes the metadata of a list, as the beginning of its message. */
export function encodeListMeta(metadata: JsonObject): Buffer {
  const writer = new WireWriter();
  messageOf(listMeta).write(writer, metadata);
  writer.close(1, 0);
  return writer.finish();
}

/** Encodes items of a list, as a part of its message; `schema` is that of the items. */
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

/** Like `encodeItems`, in steps for large items. */
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

/** Encodes a watch event with its length in front, as in a stream of events. `object` is in its envelope. */
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
