import { isList, isObject, type Json } from '../../api/object.js';
import { sortedNames } from '../../api/text-order.js';
import { writeYaml } from '../../api/yaml-writer.js';
import { WireWriter, wireTypes } from '../../schema/protobuf/wire-format.js';
import { openApiV2, type V2Format, v2Head, v2Security } from './v2.js';

/**
 * Writes an OpenAPI 2 document in protocol buffers, the only format that older clients request. These tables contain
 * the field numbers of the message Document of openapiv2 in gnostic.
 */
export const v2Protobuf: V2Format = {
  member: (of, name, value) =>
    of === 'paths'
      ? bytesOf((writer) => named(pathItem)(writer, 2, { [name]: value }))
      : bytesOf((writer) => named(schema)(writer, 1, { [name]: value })),
  *document(paths, schemas) {
    yield bytesOf((writer) => messages.head(writer, v2Head));
    yield* inField(8, paths);
    yield* inField(9, schemas);
    yield bytesOf((writer) => messages.security(writer, v2Security));
  },
};

export const openApiV2Protobuf = openApiV2(v2Protobuf);

function bytesOf(write: (writer: WireWriter) => void): Buffer {
  const writer = new WireWriter();
  write(writer);
  // The copy leaves out the unused capacity of the writer.
  return Buffer.from(writer.finish());
}

/** Writes a message of fields that are written already, under a field number. */
function* inField(number: number, fields: readonly Buffer[]): Generator<Buffer, void> {
  yield bytesOf((writer) => {
    writer.varint(fields.reduce((sum, { length }) => sum + length, 0));
    writer.tag(number, wireTypes.bytes);
  });
  yield* fields;
}

/** Writes a value under a field number. */
type WriteField = (writer: WireWriter, number: number, value: Json) => void;
/** Writes a message without its length. */
type WriteMessage = (writer: WireWriter, value: Json) => void;

const text: WriteField = (writer, number, value) => {
  if (value === '') return;
  const before = writer.length;
  writer.text(String(value));
  writer.close(number, before);
};
const flag: WriteField = (writer, number, value) => {
  if (value !== true) return;
  writer.varint(1);
  writer.tag(number, wireTypes.varint);
};
const integer: WriteField = (writer, number, value) => {
  if (typeof value !== 'number' || !Number.isInteger(value) || value === 0) return;
  writer.varint(BigInt(value));
  writer.tag(number, wireTypes.varint);
};
const double: WriteField = (writer, number, value) => {
  if (typeof value !== 'number' || value === 0) return;
  writer.double(value);
  writer.tag(number, wireTypes.fixed64);
};
const message =
  (write: WriteMessage): WriteField =>
  (writer, number, value) => {
    const before = writer.length;
    write(writer, value);
    writer.close(number, before);
  };
/** Writes a list as a repeated field; any other value counts as one item. */
const repeated =
  (item: WriteField): WriteField =>
  (writer, number, value) => {
    const items = isList(value) ? value : [value];
    for (let at = items.length - 1; at >= 0; at--) item(writer, number, items[at] ?? null);
  };
const valueNumber = 2;
/** Writes an object as a repeated field of `{ 1: name, 2: value }`. */
const named =
  (value: WriteField): WriteField =>
  (writer, number, object) => {
    if (!isObject(object)) return;
    for (const name of sortedNames(object).reverse()) {
      const before = writer.length;
      value(writer, valueNumber, object[name] ?? null);
      text(writer, 1, name);
      writer.close(number, before);
    }
  };
/** Writes a message that holds the value in one field. */
const inMessageField = (number: number, field: WriteField): WriteField =>
  message((writer, value) => field(writer, number, value));

/** Writes a value as YAML, in field 2 of an Any. */
const anyMessage: WriteField = inMessageField(2, (writer, number, value) => text(writer, number, writeYaml(value)));

type Fields = Readonly<Record<string, readonly [number: number, write: WriteField]>>;

/**
 * Writes a message with these members, and extensions under the number `extensions`. Fields are written in descending
 * order of their numbers.
 */
function members(fields: () => Fields, extensions?: number): WriteMessage {
  let sorted: readonly (readonly [string, readonly [number, WriteField]])[] | undefined;
  return (writer, value) => {
    if (!isObject(value)) return;
    if (extensions !== undefined) {
      const found = Object.entries(value).filter(([name]) => name.startsWith('x-'));
      if (found.length > 0) named(anyMessage)(writer, extensions, Object.fromEntries(found));
    }
    sorted ??= Object.entries(fields()).sort(([, [a]], [, [b]]) => b - a);
    for (const [name, [number, write]] of sorted) {
      const member = value[name];
      if (member !== undefined) write(writer, number, member);
    }
  };
}

const schema: WriteField = (writer, number, value) => message(messages.schema)(writer, number, value);
const schemas: WriteField = inMessageField(1, named(schema));

const pathItem: WriteField = (writer, number, value) => message(messages.pathItem)(writer, number, value);

/** Query parameters have one field more than path parameters, which shifts the numbers of the later fields by one. */
const plainParameter = (isQuery: boolean): WriteMessage => {
  const after = isQuery ? 1 : 0;
  return members(
    () => ({
      required: [1, flag],
      in: [2, text],
      description: [3, text],
      name: [4, text],
      type: [5 + after, text],
      format: [6 + after, text],
      uniqueItems: [19 + after, flag],
    }),
    22 + after,
  );
};

const parameter: WriteField = (writer, number, value) => {
  const place = isObject(value) ? value['in'] : undefined;
  const alternative =
    place === 'body'
      ? inMessageField(1, message(messages.bodyParameter))
      : inMessageField(2, inMessageField(place === 'path' ? 4 : 3, message(plainParameter(place !== 'path'))));
  inMessageField(1, alternative)(writer, number, value);
};

type MessageName = 'schema' | 'bodyParameter' | 'operation' | 'response' | 'pathItem' | 'head' | 'security';
const messages: Readonly<Record<MessageName, WriteMessage>> = {
  schema: members(
    () => ({
      $ref: [1, text],
      format: [2, text],
      title: [3, text],
      description: [4, text],
      default: [5, anyMessage],
      multipleOf: [6, double],
      maximum: [7, double],
      exclusiveMaximum: [8, flag],
      minimum: [9, double],
      exclusiveMinimum: [10, flag],
      maxLength: [11, integer],
      minLength: [12, integer],
      pattern: [13, text],
      maxItems: [14, integer],
      minItems: [15, integer],
      uniqueItems: [16, flag],
      maxProperties: [17, integer],
      minProperties: [18, integer],
      required: [19, repeated(text)],
      enum: [20, repeated(anyMessage)],
      additionalProperties: [21, additionalProperties],
      type: [22, inMessageField(1, repeated(text))],
      items: [23, inMessageField(1, schema)],
      allOf: [24, repeated(schema)],
      properties: [25, schemas],
      externalDocs: [29, message(externalDocs)],
      example: [30, anyMessage],
    }),
    31,
  ),
  bodyParameter: members(
    () => ({ description: [1, text], name: [2, text], in: [3, text], required: [4, flag], schema: [5, schema] }),
    6,
  ),
  operation: members(
    () => ({
      tags: [1, repeated(text)],
      summary: [2, text],
      description: [3, text],
      operationId: [5, text],
      produces: [6, repeated(text)],
      consumes: [7, repeated(text)],
      parameters: [8, repeated(parameter)],
      responses: [9, inMessageField(1, named(inMessageField(1, message(messages.response))))],
      schemes: [10, repeated(text)],
      deprecated: [11, flag],
    }),
    13,
  ),
  response: members(() => ({ description: [1, text], schema: [2, inMessageField(1, schema)] }), 5),
  pathItem: members(
    () => ({
      get: [2, message(messages.operation)],
      put: [3, message(messages.operation)],
      post: [4, message(messages.operation)],
      delete: [5, message(messages.operation)],
      options: [6, message(messages.operation)],
      head: [7, message(messages.operation)],
      patch: [8, message(messages.operation)],
      parameters: [9, repeated(parameter)],
    }),
    10,
  ),
  // The fields of the document before its paths (`head`) and after its schemas (`security`).
  head: members(() => ({
    swagger: [1, text],
    info: [2, message(members(() => ({ title: [1, text], version: [2, text] }), 7))],
  })),
  security: members(() => ({
    security: [12, repeated(inMessageField(1, named(inMessageField(1, repeated(text)))))],
    securityDefinitions: [13, inMessageField(1, named(inMessageField(2, message(apiKey))))],
  })),
};

function additionalProperties(writer: WireWriter, number: number, value: Json): void {
  const either = typeof value === 'boolean' ? inMessageField(2, boolean) : inMessageField(1, schema);
  either(writer, number, value);
}

/** Writes a boolean that is an alternative of a union, and is therefore written even if it is false. */
function boolean(writer: WireWriter, number: number, value: Json): void {
  writer.varint(value === true ? 1 : 0);
  writer.tag(number, wireTypes.varint);
}

function externalDocs(writer: WireWriter, value: Json): void {
  members(() => ({ description: [1, text], url: [2, text] }), 3)(writer, value);
}

function apiKey(writer: WireWriter, value: Json): void {
  members(() => ({ type: [1, text], name: [2, text], in: [3, text], description: [4, text] }), 5)(writer, value);
}
