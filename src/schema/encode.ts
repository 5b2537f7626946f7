import { goJson, goJsonInSteps } from '../api/go-text.js';
import { groupVersion, isObject, type Json, type JsonObject, setMember } from '../api/object.js';
import { oncePer } from '../api/once.js';
import { type DeferredWork, noDeferral, type Steps } from '../api/steps.js';
import { hasSurrogates, sortedNames } from '../api/text-order.js';
import { itemsOf, valuesOf, type WireShape, wireShape } from './go-types.js';
import { isEmpty, omitsEmpty, presenceOf, zeroOf } from './presence.js';
import type { Schema } from './schema.js';
import { memberOrder, sortByBytes, sortDeep } from './sort-members.js';

/**
 * Encodes objects into the bytes that are stored and sent: compact JSON with `<`, `>`, `&` and line separators escaped
 * as Go does. Built-in kinds have `kind`, `apiVersion`, `metadata` first and the rest as declared; custom resources are
 * sorted by name throughout.
 */

/** The properties of a resource definition that the encoder needs. */
export interface EncodedType {
  readonly origin: 'built-in' | 'custom';
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly schema: Schema;
}

/** Bytes with a gap for the revision, whose digits are inserted at byte `revisionAt`, between two quotes. */
export interface EncodedObject {
  readonly bytes: Buffer;
  readonly revisionAt: number;
}

/** Encodes objects in two steps: ordering, then writing. */
export interface Encoder {
  /** Orders the object for writing; the result is complete once the work in `later` is done. */
  order(object: object, later?: DeferredWork): JsonObject;
  /** Writes an ordered object. */
  write(ordered: JsonObject): EncodedObject;
  /** Writes a large ordered object, in steps. */
  writeInSteps(ordered: JsonObject): Steps<EncodedObject>;
}

/**
 * Returns the encoder of the stored form of a type; it is compiled once for each definition. `kind` and `apiVersion`
 * are those of the type, whatever the object contains. The value of resourceVersion is replaced by a gap.
 */
export const compileEncoder = oncePer((type: EncodedType): Encoder => {
  const apiVersion = groupVersion(type);
  return {
    order(object, later) {
      const { metadata } = object as JsonObject;
      const typed: JsonObject = { ...object, kind: type.kind, apiVersion };
      return isObject(metadata ?? null)
        ? orderMembers(type, { ...typed, metadata: { ...(metadata as JsonObject), resourceVersion: stand } }, later)
        : orderMembers(type, typed, later);
    },
    write(ordered) {
      const text = goJson(ordered);
      const byBytes = reordered(ordered, text);
      return byBytes === undefined ? encoded(ordered, text) : encoded(byBytes, goJson(byBytes));
    },
    *writeInSteps(ordered) {
      const text = yield* goJsonInSteps(ordered);
      const byBytes = reordered(ordered, text);
      return byBytes === undefined ? encoded(ordered, text) : encoded(byBytes, yield* goJsonInSteps(byBytes));
    },
  };
});

/** Returns the JSON of an object, with members in wire order. */
export function orderedText(type: EncodedType, object: JsonObject): string {
  const ordered = orderMembers(type, object);
  const text = goJson(ordered);
  const byBytes = reordered(ordered, text);
  return byBytes === undefined ? text : goJson(byBytes);
}

/** Returns an object sorted by bytes where that differs from the order of code units; undefined if it does not. */
function reordered(ordered: JsonObject, text: string): JsonObject | undefined {
  if (!hasSurrogates(text)) return undefined;
  const object = sortByBytes(ordered) as JsonObject;
  return object === ordered ? undefined : object;
}

/** Returns the object with its members in wire order. */
export const orderMembers = (type: EncodedType, object: JsonObject, later?: DeferredWork): JsonObject =>
  (type.origin === 'custom' ? sortDeep(object) : arrange(type.schema, object, later)) as JsonObject;

/**
 * Returns the offset at which an item of a list of this type begins in the bytes of an object: the item is `{` and the
 * bytes from there on. Items of built-in kinds carry no `kind` and `apiVersion`; for custom resources the offset is 1,
 * for the whole object.
 */
export const itemStart = (type: EncodedType): number =>
  type.origin === 'custom'
    ? 1
    : Buffer.byteLength(goJson({ kind: type.kind, apiVersion: groupVersion(type) }).slice(0, -1)) + 1;

/** A placeholder for the revision while an object is written as text. */
const stand = '0';
const standText = `"resourceVersion":"${stand}"`;

function encoded(object: JsonObject, text: string): EncodedObject {
  const metadata = object['metadata'] ?? null;
  return isObject(metadata) && metadata['resourceVersion'] === stand
    ? spliceable(object, text)
    : { bytes: Buffer.from(text), revisionAt: -1 };
}

/** Writes an ordered object with a gap in the place of the placeholder of the revision. */
function spliceable(object: JsonObject, text: string): EncodedObject {
  const found = text.indexOf(standText);
  // Quotes within strings are escaped, so only another member of this name and value can look the same.
  const at = (text.indexOf(standText, found + 1) < 0 ? found : placeOf(object)) + standText.length - stand.length - 1;
  const bytes = Buffer.from(text);
  const revisionAt = bytes.length === text.length ? at : Buffer.byteLength(text.slice(0, at));
  bytes.copyWithin(revisionAt, revisionAt + stand.length);
  return { bytes: bytes.subarray(0, -stand.length), revisionAt };
}

/** Returns the position of metadata.resourceVersion in the text of an object: the length of everything before it. */
function placeOf(object: JsonObject): number {
  const before = (members: JsonObject, name: string): JsonObject => {
    const out: Record<string, Json> = {};
    for (const member of Object.keys(members)) {
      if (member === name) break;
      setMember(out, member, members[member] as Json);
    }
    return out;
  };
  const length = (members: JsonObject): number => {
    const text = goJson(members);
    return text === '{}' ? 1 : text.length;
  };
  const outer = length(before(object, 'metadata'));
  return outer + '"metadata":'.length + length(before(object['metadata'] as JsonObject, 'resourceVersion'));
}

/** Orders a value; most of the work for large values is postponed to `later`. */
type Arrange = (value: Json, later: DeferredWork) => Json;

const arrangers = new WeakMap<Schema, Arrange>();
const asIs: Arrange = (value) => value;
/** The result of arranging an empty map. */
const noMembers: JsonObject = Object.freeze({});

/**
 * Returns the value with members in declared order, empty and absent ones written or omitted by their presence, members
 * that are never written left out, and maps sorted. Decoded values do not change. Unknown members are dropped.
 */
export function arrange(schema: Schema, value: Json, later: DeferredWork = noDeferral): Json {
  return value === null ? null : arrangerOf(schema)(value, later);
}

function arrangerOf(schema: Schema): Arrange {
  const known = arrangers.get(schema);
  if (known !== undefined) return known;
  // Registered before its parts are compiled, so that a schema may contain itself.
  let compiled: Arrange | undefined;
  const lazily: Arrange = (value, later) => {
    compiled ??= compileArrange(schema);
    return compiled(value, later);
  };
  const arranger = schema.wire?.sorted ? sortDeep : leaves.has(wireShape(schema)) ? asIs : lazily;
  arrangers.set(schema, arranger);
  return arranger;
}

const leaves: ReadonlySet<WireShape> = new Set<WireShape>([
  'string',
  'bytes',
  'time',
  'micro-time',
  'quantity',
  'int32',
  'int64',
  'double',
  'boolean',
  'int-or-string',
  'raw',
]);

function compileArrange(schema: Schema): Arrange {
  const shape = wireShape(schema);
  if (shape === 'struct') return arrangeStruct(schema);
  if (shape === 'list') {
    const item = arrangerOf(itemsOf(schema));
    return item === asIs
      ? asIs
      : (value, later) =>
          Array.isArray(value) ? value.map((each: Json) => (each === null ? null : item(each, later))) : value;
  }
  if (shape === 'map') {
    const item = arrangerOf(valuesOf(schema));
    return (value, later) => {
      if (!isObject(value)) return value;
      // Going through all names is slow if there are many, so that it is done once.
      const order = memberOrder(value);
      if (order === 'empty') return noMembers;
      if (order === 'sorted' && item === asIs) return value;
      const names = sortedNames(value);
      const out: Record<string, Json> = {};
      later.each(names.length, (at) => {
        const name = names[at] as string;
        const member = value[name] as Json;
        setMember(out, name, member === null ? null : item(member, later));
      });
      return out;
    };
  }
  const alternatives = (schema.oneOf ?? []).map((each) => ({ shape: wireShape(each), arrange: arrangerOf(each) }));
  return (value, later) => {
    const shape = Array.isArray(value) ? 'list' : typeof value === 'object' ? 'struct' : undefined;
    return alternatives.find((each) => each.shape === shape)?.arrange(value, later) ?? value;
  };
}

interface Member {
  readonly name: string;
  readonly arrange: Arrange;
  readonly isMap: boolean;
  readonly omitEmpty: boolean;
  /** Whether the value may be a list or something else; an empty list is then not written. */
  readonly isUnion: boolean;
  /** Returns the value that is written for an absent member. */
  readonly zero: (() => Json) | undefined;
}

function memberOf(name: string, schema: Schema): Member {
  const shape = wireShape(schema);
  const item = arrangerOf(schema);
  return {
    name,
    arrange: item,
    isMap: shape === 'map',
    omitEmpty: omitsEmpty(schema),
    isUnion: shape === 'union',
    zero: zeroMaker(schema, shape, item),
  };
}

function arrangeStruct(schema: Schema): Arrange {
  const members = [...(schema.properties ?? [])]
    .filter(([, of]) => of.wire?.writeOnly !== true)
    .map(([name, of]) => memberOf(name, of));
  return (value, later) => {
    if (!isObject(value)) return value;
    const out: Record<string, Json> = {};
    for (const { name, arrange: arrangeMember, isMap, omitEmpty, isUnion, zero } of members) {
      const memberValue = value[name];
      if (memberValue === undefined || memberValue === null) {
        if (zero !== undefined) out[name] = zero();
        continue;
      }
      if (omitEmpty && !(isMap && isObject(memberValue)) && isEmpty(memberValue)) continue;
      if (isUnion && Array.isArray(memberValue) && memberValue.length === 0) continue;
      const arranged = arrangeMember === asIs ? memberValue : arrangeMember(memberValue, later);
      if (!omitEmpty || arranged !== noMembers) out[name] = arranged;
    }
    return out;
  };
}

/** Returns a function for the value that is written for an absent member; undefined if none is written. */
function zeroMaker(schema: Schema, shape: WireShape, item: Arrange): (() => Json) | undefined {
  const presence = presenceOf(schema);
  if (presence === 'null') return () => null;
  if (presence !== 'always') return undefined;
  return shape === 'struct' ? () => item({}, noDeferral) : () => zeroOf(shape);
}
