import { largeJson } from '../../api/json-pieces.js';
import { type Json, type JsonObject, setMember } from '../../api/object.js';
import { oncePer } from '../../api/once.js';
import type { Steps } from '../../api/steps.js';
import { sortedNames } from '../../api/text-order.js';
import { goFieldName, itemsOf, structName, valuesOf, type WireShape, wireShape } from '../go-types.js';
import { isPointer } from '../presence.js';
import type { Schema } from '../schema.js';
import type { Codec } from './codec.js';
import { writeText, wrongWireType } from './plain-message.js';
import { scalars } from './scalars.js';
import { ProtobufError, WireReader, type WireWriter, wireTypes } from './wire-format.js';

/** The maximum nesting of messages. */
const maxDepth = 200;
/** The number of fields per step when a large message is read. */
const fieldsInStep = 512;

type JsonMembers = Readonly<Record<string, Json>>;
export const asObject = (value: Json): JsonMembers =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};

/** A message: a struct, or one of the few other types that are messages. */
export interface Message {
  readInto(out: Record<string, Json>, reader: WireReader, depth: number): void;
  readInSteps(out: Record<string, Json>, reader: WireReader, depth: number): Steps<void>;
  write(writer: WireWriter, value: JsonMembers): void;
  writeInSteps(writer: WireWriter, value: JsonMembers): Steps<void>;
}

interface Field {
  readonly name: string;
  readonly number: number;
  readonly shape: WireShape;
  readonly codec: Codec;
  /** Whether the field is omitted when absent. */
  readonly skipsAbsent: boolean;
  /** A message that Go embeds: its fields are members of the surrounding struct, and `codec` is not used for reading them. */
  readonly embedded?: Message;
}

/** Returns the message of a struct; compiled once for each schema. */
export const messageOf = oncePer((schema: Schema) => structMessage(schema, structName(schema)));

/** The shapes whose values Go omits when they are nil, even if they are no pointers. */
const nilable: ReadonlySet<WireShape> = new Set<WireShape>(['list', 'map', 'bytes', 'union']);

function structMessage(schema: Schema, name: string): Message {
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
  /** Reads a field, or returns the steps that read it if it is large. */
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
      let [count, from] = [0, reader.position];
      while (!reader.done) {
        const steps = readField(out, reader, depth, true);
        if (steps !== undefined) yield* steps;
        // Large fields have steps of their own, but there may be many that are just not large.
        if (++count < fieldsInStep && reader.position - from < largeJson) continue;
        [count, from] = [0, reader.position];
        yield;
      }
    },
    write: (writer, value) => {
      fields ??= compile();
      for (const { name: member, number, codec, skipsAbsent, embedded } of fields) {
        const memberValue = embedded === undefined ? value[member] : value;
        if (skipsAbsent && (memberValue === undefined || memberValue === null)) continue;
        codec.write(writer, number, memberValue);
      }
    },
    *writeInSteps(writer, value) {
      fields ??= compile();
      for (const { name: member, number, codec, skipsAbsent, embedded } of fields) {
        const memberValue = embedded === undefined ? value[member] : value;
        if (skipsAbsent && (memberValue === undefined || memberValue === null)) continue;
        if (codec.writeInSteps !== undefined) yield* codec.writeInSteps(writer, number, memberValue);
        else codec.write(writer, number, memberValue);
      }
    },
  };
}

function* setInSteps(out: Record<string, Json>, name: string, value: Steps<Json>): Steps<void> {
  out[name] = yield* value;
}

/** Returns one field for each message that Go embeds in a struct. It is always written, like any struct. */
function embeddedFields(schema: Schema): readonly Field[] {
  const groups = new Map<number, { readonly name: string; readonly members: [string, Schema][] }>();
  for (const [member, of] of schema.properties ?? []) {
    const within = of.wire?.within;
    if (within === undefined) continue;
    const { within: _, ...wire } = of.wire ?? {};
    const inner = within.within === undefined ? wire : { ...wire, within: within.within };
    const group = groups.get(within.number) ?? { name: within.struct, members: [] };
    group.members.push([member, { ...of, wire: inner }]);
    groups.set(within.number, group);
  }
  return [...groups].map(([number, { name, members }]) => {
    const embedded = structMessage({ ...schema, properties: new Map(members) }, name);
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

/** Reads a packed list: the numbers of a list may come in one length-delimited field. */
function readPacked(codec: Codec, reader: WireReader, depth: number, previous: Json | undefined): Json {
  const inner = new WireReader(reader.bytes());
  let out = previous;
  while (!inner.done) out = codec.read(inner, depth, out);
  return out ?? [];
}

/** Returns the codec of a field: lists and maps are repeated fields, unless they are messages of their own. */
const fieldCodec = oncePer((schema: Schema): Codec => {
  const shape = wireShape(schema);
  if (shape === 'list' && schema.wire?.wrapped !== true) return repeated(elementCodec(itemsOf(schema)));
  return shape === 'map' ? entries(schema) : elementCodec(schema);
});

/** Returns the codec of a single value. A list in this place is a message with the items in field 1. */
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
  /** Returns functions that read the next field of an entry, and that add the entry to the others. */
  const entryOf = (
    reader: WireReader,
    depth: number,
  ): { next(): boolean; put(previous: Json | undefined): Record<string, Json> } => {
    value ??= elementCodec(values);
    let name = '';
    let read: Json | undefined;
    const of = value;
    const next = reader.entry((number) => {
      if (number === 1) name = reader.bytes().toString('utf8');
      // As in Go, the last of several values counts, even for messages.
      else if (number === 2) read = of.read(reader, depth + 1, undefined);
      return number === 1 || number === 2;
    });
    const put = (previous: Json | undefined): Record<string, Json> => {
      const out = (previous ?? {}) as Record<string, Json>;
      setMember(out, name, read ?? (wireShape(values) === 'list' ? [] : null));
      return out;
    };
    return { next, put };
  };
  return {
    type: wireTypes.bytes,
    read: (reader, depth, previous) => {
      const { next, put } = entryOf(reader, depth);
      while (next());
      return put(previous);
    },
    *readInSteps(reader, depth, previous) {
      const { next, put } = entryOf(reader, depth);
      for (let fields = 1; next(); fields++) if (fields % fieldsInStep === 0) yield;
      return put(previous);
    },
    write: (writer, number, map) => {
      const members = asObject(map ?? null);
      for (const name of sortedNames(members).reverse()) writeEntry(writer, number, name, members[name]);
    },
    *writeInSteps(writer, number, map) {
      const members = asObject(map ?? null);
      const names = sortedNames(members);
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

/**
 * Returns a codec that wraps a list or map in `{ items: [...] }`, for lists and maps that are themselves items or
 * values of a map, or messages of their own.
 */
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

/**
 * Returns a codec for a message with one field for each alternative. A boolean says whether there is a value, and is
 * therefore written even beside a schema.
 */
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
      const json = value ?? null;
      const chosen = json === null ? undefined : alternatives.find(({ shape }) => shape === shapeOf(json));
      const parts = [
        ...(chosen === undefined ? [] : [{ ...chosen, value: json }]),
        ...(flag === undefined || chosen === flag ? [] : [{ ...flag, value: chosen !== undefined }]),
      ].sort((a, b) => b.number - a.number);
      for (const part of parts) part.codec().write(writer, part.number, part.value);
      writer.close(number, before);
    },
  };
}
