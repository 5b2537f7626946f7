import { Complaints } from '../api/complaints.js';
import {
  type ExactJson,
  isList,
  isMembers,
  jsonKind,
  type Members,
  type ParsedJson,
  RepeatedMembers,
} from '../api/json-exact.js';
import { type Json, setMember } from '../api/object.js';
import { oncePer } from '../api/once.js';
import { runSync, type Steps } from '../api/steps.js';
import { sortedNames, sortTexts } from '../api/text-order.js';
import { type TypeMeta, typeMetaIn } from '../api/type-meta.js';
import { DecodeError } from './decode-error.js';
import { type DecoderNode, type MakeDecoderNode, scalarMakers } from './decode-scalars.js';
import { type DecodeReport, DecodeState } from './decode-state.js';
import { goType, itemsOf, structName, valuesOf, type WireShape, wireShape } from './go-types.js';
import { isEmpty, omitsEmpty, presenceOf } from './presence.js';
import { mergeRepeated } from './repeated-members.js';
import type { Schema } from './schema.js';
import { isSortedByName } from './sort-members.js';

/**
 * Decodes built-in kinds as Go's strict JSON decoder does, driven by the schema and its wire facts. The result is the
 * canonical form: members in declared order, unknown ones dropped, empty ones left out or zero-filled by presence, maps
 * sorted, times, base64 and quantities normalised.
 *
 * Errors come in Go's order. Of several wrong types the first in document order is reported, after the whole value has
 * been decoded. A text that does not parse (a time, a quantity) is reported at once, before any wrong type. The
 * contents of lists and maps with thousands of items are decoded last, in steps.
 *
 * A union (`oneOf` without `type`) takes the alternative that matches the JSON type of the value. Its alternatives
 * carry the field numbers of the union's own message; unknown fields below a union are not reported, as in Go.
 */
export type Decoder = (value: ExactJson, report?: DecodeReport) => Json;

/** Compiles a schema once. The decoder throws DecodeError. */
export const compileDecoder = oncePer((schema: Schema): Decoder => {
  const root = nodeOf(schema);
  return (value, report) => runSync(decodeRoot(root, value, new DecodeState(report)));
});

function* decodeRoot(root: DecoderNode, value: ExactJson, state: DecodeState): Steps<Json> {
  const decoded = value === null ? undefined : root.decode(value, state);
  yield* state.rest();
  if (state.failure !== undefined) throw state.failure;
  return decoded ?? root.zero() ?? null;
}

/** Properties of a decoded body that its value does not show. */
export interface EmptyMembers {
  /**
   * The members of the root that are, or contain, lists or maps that were sent empty and left out, or maps with `null`
   * in the place of bytes. In Go these are not nil.
   */
  readonly emptyMembers?: ReadonlySet<string> | undefined;
}

/** A decoded body. */
export interface DecodedText extends EmptyMembers {
  readonly value: Json;
  /**
   * The errors for fieldValidation: first repeated members of YAML, then unknown and repeated members in document
   * order.
   */
  readonly strict: readonly string[];
}

/**
 * Decodes a whole body. Throws DecodeError. `converts` reports unknown fields as Go's converter of unstructured objects
 * does: without the keys of maps, once for each occurrence, sorted, and without a limit on their number.
 */
export function* decodeText(
  schema: Schema,
  text: ParsedJson & { readonly format?: 'json' | 'yaml' },
  { converts = false }: { readonly converts?: boolean } = {},
): Steps<DecodedText> {
  const complaints = new Complaints(converts ? { repeats: true, most: Number.POSITIVE_INFINITY } : {});
  if (text.format === 'yaml') for (const repeated of text.duplicates) complaints.add(() => repeated);
  const state = new DecodeState({ strict: complaints }, { isPlain: text.exact === text.value, converts });
  const value = yield* decodeRoot(nodeOf(schema), text.exact, state);
  const strict = converts ? sortTexts([...complaints.texts]) : complaints.texts;
  return { value, strict, emptyMembers: state.emptyMembers };
}

/** Returns `apiVersion` and `kind` of a body. Throws DecodeError (`couldn't get version/kind; json parse error: ...`). */
export function typeMetaOf(value: ExactJson): TypeMeta {
  const found = typeMetaIn(value);
  if ('wrong' in found) throw new DecodeError(found.wrong);
  return found;
}

/** Returns the members by index. No list of pairs is made, which would be slow for many members. */
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

/** Compiled on first use, so that schemas may contain themselves. */
const nodeOf = oncePer((schema: Schema): DecoderNode => makers[wireShape(schema)](schema));

/** Whether a value is absent. Objects made by code may have undefined members. */
const isAbsent = (value: ExactJson | undefined): value is null | undefined => value === null || value === undefined;

const makers: Readonly<Record<WireShape, MakeDecoderNode>> = {
  ...scalarMakers,
  list: (schema) => {
    const type = goType(schema);
    let item: DecoderNode | undefined;
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
          const item = value[at] as ExactJson;
          path.push(at);
          out.push((isAbsent(item) ? undefined : of.decode(item, state)) ?? of.zero());
          path.pop();
        });
      },
    };
  },
  map: (schema) => {
    const type = goType(schema);
    let values: DecoderNode | undefined;
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
          const member = valueAt(at);
          if (!state.converts) path.push(nameOf(at));
          if (isAbsent(member) && of.shape === 'bytes') state.emptyMembers.add(String(path[0] ?? ''));
          const decoded = (isAbsent(member) ? undefined : of.decode(member, state)) ?? of.zero();
          if (!state.converts) path.pop();
          return decoded;
        };
        if (isSortedByName(names)) {
          return state.fill(out, names.length, (at) => setMember(out, nameOf(at), decodeMember(at)));
        }
        // Creating an object with many members is slow, so that only the sorted one is made.
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
    let alternatives: readonly DecoderNode[] | undefined;
    return {
      shape: 'union',
      schema,
      zero: () => null,
      decode: (value, state) => {
        alternatives ??= (schema.oneOf ?? []).map(nodeOf);
        const fitting = alternatives.find(({ shape }) => acceptsShape(shape, value));
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

/** Whether a union's alternative of this shape accepts the value. */
function acceptsShape(shape: WireShape, value: ExactJson): boolean {
  if (typeof value === 'boolean') return shape === 'boolean';
  if (typeof value === 'string') return shape === 'string';
  if (isList(value)) return shape === 'list';
  return isMembers(value) && (shape === 'struct' || shape === 'map');
}

/** Decodes without postponing anything. */
function decodeWhole(node: DecoderNode, value: ExactJson, state: DecodeState): Json | undefined {
  const decoded = node.decode(value, state);
  runSync(state.rest());
  return decoded;
}

interface Field {
  readonly name: string;
  readonly node: DecoderNode;
  /** The embedded structs that contain the field, from the outermost. */
  readonly within: readonly string[];
  readonly always: boolean;
  /** Whether the field is left out when it is empty. */
  readonly omitEmpty: boolean;
}

function* structsAround(schema: Schema): Generator<string> {
  for (let at = schema.wire?.within; at !== undefined; at = at.within) yield at.struct;
}

function makeStruct(schema: Schema): DecoderNode {
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

  /** Returns the members in declared order; `slots` holds the decoded values. */
  const assemble = (slots: readonly (Json | undefined)[], state?: DecodeState): Record<string, Json> => {
    const out: Record<string, Json> = {};
    for (let at = 0; at < fields.length; at++) {
      const field = fields[at] as Field;
      const value = slots[at];
      if (value === undefined) {
        if (field.always) out[field.name] = field.node.zero();
      } else if (!field.omitEmpty || !isEmpty(value) || state?.isUnfilled(value)) out[field.name] = value;
      else if (typeof value === 'object') state?.emptyMembers.add(String(state.path[0] ?? field.name));
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

      const decodeField = (at: number, fieldValue: ExactJson): Json | undefined => {
        const field = fields[at] as Field;
        path.push(field.name);
        const { length } = fieldPath;
        fieldPath.push(...field.within);
        fieldPath.push(field.name);
        const decoded = field.node.decode(fieldValue, state);
        path.pop();
        fieldPath.length = length;
        return decoded;
      };

      if (value instanceof RepeatedMembers) decodeRepeated(value, { fields, indexes, slots, decodeField, state });
      else {
        for (const member in value) {
          const fieldValue = value[member] as ExactJson;
          const at = indexes.get(member);
          if (at === undefined) state.strict('unknown', member);
          else if (!isAbsent(fieldValue)) slots[at] = decodeField(at, fieldValue);
        }
      }
      state.struct = outer;
      return assemble(slots, state);
    },
  };
}

/** Decodes members of which some are repeated: each occurrence on its own to report its errors, then all of them together. */
function decodeRepeated(
  { members }: RepeatedMembers,
  {
    fields,
    indexes,
    slots,
    decodeField,
    state,
  }: {
    readonly fields: readonly Field[];
    readonly indexes: ReadonlyMap<string, number>;
    /** Receives the decoded values, each at the index of its field. */
    readonly slots: (Json | undefined)[];
    readonly decodeField: (at: number, fieldValue: ExactJson) => Json | undefined;
    readonly state: DecodeState;
  },
): void {
  const byField: ExactJson[][] = [];
  for (const [member, one] of members) {
    const at = indexes.get(member);
    if (at === undefined) continue;
    byField[at] ??= [];
    byField[at].push(one);
  }
  const { isReportOnly } = state;
  const seenFields = new Set<number>();
  for (const [member, one] of members) {
    const at = indexes.get(member);
    if (at === undefined) {
      state.strict('unknown', member);
      continue;
    }
    if (seenFields.has(at)) state.repeats(member);
    seenFields.add(at);
    const isRepeated = (byField[at]?.length ?? 0) > 1;
    if (isAbsent(one) || (isRepeated && state.isMerged)) continue;
    state.isReportOnly = isReportOnly || isRepeated;
    slots[at] = decodeField(at, one);
  }
  state.isReportOnly = isReportOnly;
  for (const [at, all = []] of byField.entries())
    if (all.length > 1 && !isReportOnly) slots[at] = decodeMerged((fields[at] as Field).node, all);
}

/** Decodes a repeated member. Errors have already been reported for each occurrence. */
function decodeMerged(node: DecoderNode, values: readonly ExactJson[]): Json | undefined {
  const merged = mergeRepeated(node.schema, values);
  return merged === null ? undefined : decodeWhole(node, merged, new DecodeState(undefined, { isMerged: true }));
}
