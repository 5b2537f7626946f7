import { bytesOfList, canonicalBase64 } from '../api/base64.js';
import { Complaints } from '../api/complaints.js';
import { goJson, trimSpace } from '../api/go-text.js';
import { canonicalMicroTime, canonicalTime } from '../api/go-time.js';
import {
  type ExactJson,
  isList,
  isMembers,
  jsonKind,
  literalOf,
  type Members,
  plainJson,
  type ReadText,
  RepeatedMembers,
} from '../api/json-exact.js';
import { type Json, setMember } from '../api/object.js';
import { canonicalQuantity } from '../api/quantity.js';
import { atOnce, type Steps } from '../api/steps.js';
import { sortedNames, sortTexts } from '../api/text-order.js';
import { type TypeMeta, typeMetaIn } from '../api/type-meta.js';
import { DecodeError } from './decode-error.js';
import { type DecodeReport, DecodeState } from './decode-state.js';
import { goType, itemsOf, structName, valuesOf, type WireShape, wireShape } from './go-types.js';
import { isEmpty, omitsEmpty, presenceOf, zeroOf } from './presence.js';
import { mergeRepeated } from './repeated-members.js';
import type { Schema } from './schema.js';
import { inOrderOfNames } from './sorted.js';

/**
 * Decodes built-in kinds as Go's strict JSON decoder does, driven by the schema and its wire facts. The result is the
 * canonical form: members in declared order, unknown ones dropped, empty ones left out or zero-filled by presence, maps
 * sorted, times, base64 and quantities normalised.
 *
 * Of wrong types the first in document order is reported, after the whole value was looked at; a text that does not
 * parse (a time, a quantity) is reported at once, before any wrong type. That is Go's order. What is in lists and maps
 * of thousands comes after all else, in steps.
 *
 * A union (`oneOf` without `type`) takes the alternative that fits the JSON type of the value. Its alternatives carry
 * the field numbers of the union's own message; unknown fields below a union are not reported, as in Go.
 */
export type Decoder = (value: ExactJson, report?: DecodeReport) => Json;

const compiled = new WeakMap<Schema, Decoder>();

/** Compiles a schema once. The decoder throws DecodeError. */
export function compileDecoder(schema: Schema): Decoder {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const root = nodeOf(schema);
  const decoder: Decoder = (value, report) => atOnce(decodeRoot(root, value, new DecodeState(report)));
  compiled.set(schema, decoder);
  return decoder;
}

function* decodeRoot(root: Node, value: ExactJson, state: DecodeState): Steps<Json> {
  const decoded = value === null ? undefined : root.decode(value, state);
  yield* state.rest();
  if (state.failure !== undefined) throw state.failure;
  return decoded ?? root.zero() ?? null;
}

/** What is not seen of a decoded value. */
export interface Emptied {
  /**
   * The members of the root that are, or contain, lists or maps which were sent empty and left out, or maps in which no
   * bytes were sent as `null`. Go's nil is something else than what is empty.
   */
  readonly emptied?: ReadonlySet<string> | undefined;
}

/** What a body says. */
export interface DecodedText extends Emptied {
  readonly value: Json;
  /** What fieldValidation is about: repeated members of YAML first, then unknown and repeated ones in document order. */
  readonly strict: readonly string[];
}

/**
 * Decodes a whole body. Throws DecodeError. `converts`: what is unknown is told as Go's converter of unstructured
 * objects does it, without keys of maps, as often as it is there, in the order of texts, however many there are.
 */
export function* decodeText(
  schema: Schema,
  text: ReadText & { readonly format?: 'json' | 'yaml' },
  { converts = false }: { readonly converts?: boolean } = {},
): Steps<DecodedText> {
  const complaints = new Complaints(converts ? { repeats: true, most: Number.POSITIVE_INFINITY } : {});
  if (text.format === 'yaml') for (const repeated of text.duplicates) complaints.add(() => repeated);
  const state = new DecodeState({ strict: complaints }, { isPlain: text.exact === text.value, converts });
  const value = yield* decodeRoot(nodeOf(schema), text.exact, state);
  const strict = converts ? sortTexts([...complaints.texts]) : complaints.texts;
  return { value, strict, emptied: state.emptied };
}

/** `apiVersion` and `kind` of a body. Throws DecodeError (`couldn't get version/kind; json parse error: ...`). */
export function typeMetaOf(value: ExactJson): TypeMeta {
  const found = typeMetaIn(value);
  if ('wrong' in found) throw new DecodeError(found.wrong);
  return found;
}

/** The same, by index, without a list of pairs, which takes long to make of many. */
function namesAndValues(value: Members): {
  readonly names: readonly string[];
  valueAt(at: number): ExactJson;
} {
  if (value instanceof RepeatedMembers) {
    const { members } = value;
    return { names: members.map(([name]) => name), valueAt: (at) => members[at]?.[1] ?? null };
  }
  const names = Object.keys(value);
  return { names, valueAt: (at) => value[names[at] as string] ?? null };
}

/** One compiled schema node. */
interface Node {
  readonly shape: WireShape;
  readonly schema: Schema;
  /** undefined: leave it as if it were absent. `value` is not null. */
  decode(value: ExactJson, state: DecodeState): Json | undefined;
  /** The value when nothing is given and something must be written. */
  zero(): Json;
}

const nodes = new WeakMap<Schema, Node>();

/** Compiled on first use, so that schemas may contain themselves. */
function nodeOf(schema: Schema): Node {
  const known = nodes.get(schema);
  if (known !== undefined) return known;
  const node = makers[wireShape(schema)](schema);
  nodes.set(schema, node);
  return node;
}

/** Objects made by code may have members that are undefined. */
const isAbsent = (value: ExactJson | undefined): value is null | undefined => value === null || value === undefined;
type MakeNode = (schema: Schema) => Node;

const scalar =
  (shape: WireShape, decode: (value: ExactJson, state: DecodeState, type: string) => Json | undefined): MakeNode =>
  (schema) => {
    const type = goType(schema);
    return { shape, schema, zero: () => zeroOf(shape), decode: (value, state) => decode(value, state, type) };
  };

/** Text that a Go type parses itself: a bad one ends decoding at once. */
const parsed = (shape: WireShape, parse: (text: string) => Json | { readonly wrong: string }): MakeNode =>
  scalar(shape, (value, state) => {
    if (typeof value !== 'string') return state.refuse(jsonKind(value), 'string');
    const result = parse(value);
    if (isWrong(result)) throw new DecodeError(result.wrong);
    return result;
  });
const isWrong = (result: Json | { readonly wrong: string }): result is { readonly wrong: string } =>
  typeof result === 'object' && result !== null;

const integer = (bits: 32 | 64): MakeNode => {
  return scalar(bits === 32 ? 'int32' : 'int64', (value, state, type) => {
    if (typeof value === 'number') {
      const fits = bits === 32 ? (value | 0) === value : Number.isSafeInteger(value);
      return fits ? value : state.wrongType(`number ${value}`, type);
    }
    if (typeof value === 'bigint' && bits === 64) return value;
    const literal = literalOf(value);
    return state.wrongType(literal === undefined ? jsonKind(value) : `number ${literal}`, type);
  });
};

const makers: Readonly<Record<WireShape, MakeNode>> = {
  string: scalar('string', (value, state, type) =>
    typeof value === 'string' ? value : state.wrongType(jsonKind(value), type),
  ),
  boolean: scalar('boolean', (value, state, type) =>
    typeof value === 'boolean' ? value : state.wrongType(jsonKind(value), type),
  ),
  int32: integer(32),
  int64: integer(64),
  double: scalar('double', (value, state, type) => {
    const literal = literalOf(value);
    const number = literal === undefined ? value : Number(literal);
    if (typeof number !== 'number') return state.wrongType(jsonKind(value), type);
    return Number.isFinite(number) ? number : state.wrongType(`number ${literal ?? number}`, type);
  }),
  bytes: scalar('bytes', (value, state, type) => {
    if (isList(value)) {
      const bytes = bytesOfList(value);
      return 'wrong' in bytes ? state.wrongType(bytes.wrong, 'uint8') : bytes.toString('base64');
    }
    if (typeof value !== 'string') return state.wrongType(jsonKind(value), type);
    const canonical = canonicalBase64(value);
    if (typeof canonical === 'string') return canonical;
    state.failure ??= new DecodeError(`illegal base64 data at input byte ${canonical.illegalAt}`);
    return undefined;
  }),
  time: parsed('time', canonicalTime),
  'micro-time': parsed('micro-time', canonicalMicroTime),
  quantity: scalar('quantity', (value) => {
    const text = typeof value === 'string' ? value : (literalOf(value) ?? goJson(plainJson(value)));
    const canonical = canonicalQuantity(trimSpace(text));
    if (typeof canonical !== 'string') throw new DecodeError(canonical.wrong);
    return canonical;
  }),
  'int-or-string': scalar('int-or-string', (value, state) => {
    if (typeof value === 'string') return value;
    if (typeof value === 'number' && (value | 0) === value) return value;
    const number = typeof value === 'number' ? String(value) : literalOf(value);
    return state.refuse(number === undefined ? jsonKind(value) : `number ${number}`, 'int32');
  }),
  raw: scalar('raw', (value, { isPlain }) => (isPlain ? (value as Json) : plainJson(value))),
  list: (schema) => {
    const type = goType(schema);
    let item: Node | undefined;
    return {
      shape: 'list',
      schema,
      zero: () => null,
      decode: (value, state) => {
        if (!isList(value)) return state.wrongType(jsonKind(value), type);
        item ??= nodeOf(itemsOf(schema));
        const of = item;
        const { path } = state;
        const out: Json[] = [];
        return state.fill(out, value.length, (at) => {
          const given = value[at] as ExactJson;
          path.push(at);
          out.push((isAbsent(given) ? undefined : of.decode(given, state)) ?? of.zero());
          path.pop();
        });
      },
    };
  },
  map: (schema) => {
    const type = goType(schema);
    let values: Node | undefined;
    return {
      shape: 'map',
      schema,
      zero: () => null,
      decode: (value, state) => {
        if (!isMembers(value)) return state.wrongType(jsonKind(value), type);
        values ??= nodeOf(valuesOf(schema));
        const of = values;
        const { path } = state;
        const { names, valueAt } = namesAndValues(value);
        const out: Record<string, Json> = {};
        const nameOf = (at: number): string => names[at] as string;
        const decodeMember = (at: number): Json => {
          const given = valueAt(at);
          if (!state.converts) path.push(nameOf(at));
          if (isAbsent(given) && of.shape === 'bytes') state.emptied.add(String(path[0] ?? ''));
          const decoded = (isAbsent(given) ? undefined : of.decode(given, state)) ?? of.zero();
          if (!state.converts) path.pop();
          return decoded;
        };
        if (inOrderOfNames(names)) {
          return state.fill(out, names.length, (at) => setMember(out, nameOf(at), decodeMember(at)));
        }
        // Objects of many members are slow to make, so that only one is made of them.
        const unsorted = new Map<string, Json>();
        const add = (at: number): void => {
          if (unsorted.has(nameOf(at))) state.strict('duplicate', nameOf(at));
          unsorted.set(nameOf(at), decodeMember(at));
        };
        return state.fill(out, names.length, add, () => {
          const sorted = sortedNames(unsorted);
          state.fill(out, sorted.length, (at) => {
            const name = sorted[at] as string;
            setMember(out, name, unsorted.get(name) ?? null);
          });
        });
      },
    };
  },
  struct: makeStruct,
  union: (schema) => {
    let alternatives: readonly Node[] | undefined;
    return {
      shape: 'union',
      schema,
      zero: () => null,
      decode: (value, state) => {
        alternatives ??= (schema.oneOf ?? []).map(nodeOf);
        const fitting = alternatives.find(({ shape }) => takes(shape, value));
        if (fitting === undefined) {
          if (alternatives.some(({ shape }) => shape === 'boolean')) throw new DecodeError(schemaOrBoolean);
          return null;
        }
        const inner = new DecodeState(undefined, { around: state });
        const decoded = decodeWhole(fitting, value, inner);
        if (inner.failure !== undefined) throw inner.failure;
        return decoded;
      },
    };
  },
};

const schemaOrBoolean = 'boolean or JSON schema expected';

/** Does a union's alternative of this shape take the value? */
function takes(shape: WireShape, value: ExactJson): boolean {
  if (typeof value === 'boolean') return shape === 'boolean';
  if (typeof value === 'string') return shape === 'string';
  if (isList(value)) return shape === 'list';
  return isMembers(value) && (shape === 'struct' || shape === 'map');
}

/** Leaves nothing for later. */
function decodeWhole(node: Node, value: ExactJson, state: DecodeState): Json | undefined {
  const decoded = node.decode(value, state);
  atOnce(state.rest());
  return decoded;
}

interface Field {
  readonly name: string;
  readonly node: Node;
  /** The embedded structs it is in, from the outermost. */
  readonly within: readonly string[];
  readonly always: boolean;
  /** Left out when empty. */
  readonly omitEmpty: boolean;
}

function* structsAround(schema: Schema): Generator<string> {
  for (let at = schema.wire?.within; at !== undefined; at = at.within) yield at.struct;
}

function makeStruct(schema: Schema): Node {
  const type = goType(schema);
  const name = structName(schema);
  let fields: readonly Field[] = [];
  let indexes: ReadonlyMap<string, number> | undefined;

  const compile = (): ReadonlyMap<string, number> => {
    fields = [...(schema.properties ?? [])].map(([member, of]) => {
      const node = nodeOf(of);
      return {
        name: member,
        node,
        within: [...structsAround(of)],
        always: presenceOf(of) === 'always',
        omitEmpty: omitsEmpty(of) && of.wire?.keepsEmpty !== true,
      };
    });
    return new Map(fields.map((field, at) => [field.name, at]));
  };

  /** Members in declared order; `slots` holds what was decoded. */
  const assemble = (slots: readonly (Json | undefined)[], state?: DecodeState): Record<string, Json> => {
    const out: Record<string, Json> = {};
    for (let at = 0; at < fields.length; at++) {
      const field = fields[at] as Field;
      const value = slots[at];
      if (value === undefined) {
        if (field.always) out[field.name] = field.node.zero();
      } else if (!field.omitEmpty || !isEmpty(value) || state?.isUnfilled(value)) out[field.name] = value;
      else if (typeof value === 'object') state?.emptied.add(String(state.path[0] ?? field.name));
    }
    return out;
  };

  return {
    shape: 'struct',
    schema,
    zero: () => {
      indexes ??= compile();
      return assemble([]);
    },
    decode: (value, state) => {
      if (!isMembers(value)) return state.wrongType(jsonKind(value), type);
      indexes ??= compile();
      const { path, fields: fieldPath, struct: outer } = state;
      const slots: (Json | undefined)[] = [];
      state.struct = name;

      const decodeField = (at: number, given: ExactJson): Json | undefined => {
        const field = fields[at] as Field;
        path.push(field.name);
        const { length } = fieldPath;
        fieldPath.push(...field.within);
        fieldPath.push(field.name);
        const decoded = field.node.decode(given, state);
        path.pop();
        fieldPath.length = length;
        return decoded;
      };

      if (value instanceof RepeatedMembers) {
        const given: ExactJson[][] = [];
        for (const [member, one] of value.members) {
          const at = indexes.get(member);
          if (at === undefined) continue;
          given[at] ??= [];
          given[at].push(one);
        }
        const { isOnlyTold } = state;
        const told = new Set<number>();
        for (const [member, one] of value.members) {
          const at = indexes.get(member);
          if (at === undefined) {
            state.strict('unknown', member);
            continue;
          }
          if (told.has(at)) state.repeats(member);
          told.add(at);
          const isRepeated = (given[at]?.length ?? 0) > 1;
          if (isAbsent(one) || (isRepeated && state.isMerged)) continue;
          state.isOnlyTold = isOnlyTold || isRepeated;
          slots[at] = decodeField(at, one);
        }
        state.isOnlyTold = isOnlyTold;
        for (const [at, all = []] of given.entries())
          if (all.length > 1 && !isOnlyTold) slots[at] = decodeMerged((fields[at] as Field).node, all);
      } else {
        for (const member in value) {
          const given = value[member] as ExactJson;
          const at = indexes.get(member);
          if (at === undefined) state.strict('unknown', member);
          else if (!isAbsent(given)) slots[at] = decodeField(at, given);
        }
      }
      state.struct = outer;
      return assemble(slots, state);
    },
  };
}

/** A member given several times. Whatever is to be told of it has been told of each. */
function decodeMerged(node: Node, given: readonly ExactJson[]): Json | undefined {
  const merged = mergeRepeated(node.schema, given);
  return merged === null ? undefined : decodeWhole(node, merged, new DecodeState(undefined, { isMerged: true }));
}
