import { bytesOfList, canonicalBase64 } from '../api/base64.js';
import { goJson, trimSpace } from '../api/go-text.js';
import { canonicalMicroTime, canonicalTime } from '../api/go-time.js';
import { type ExactJson, isList, jsonKind, literalOf, plainJson } from '../api/json-exact.js';
import type { Json } from '../api/object.js';
import { canonicalQuantity } from '../api/quantity.js';
import { DecodeError } from './decode-error.js';
import type { DecodeState } from './decode-state.js';
import { goType, type WireShape } from './go-types.js';
import { zeroOf } from './presence.js';
import type { Schema } from './schema.js';

/** Decoders of scalar values, as Go's decoder accepts them. */

/** A compiled schema node. */
export interface DecoderNode {
  readonly shape: WireShape;
  readonly schema: Schema;
  /** Decodes a value that is not null. Returns undefined to treat it as absent. */
  decode(value: ExactJson, state: DecodeState): Json | undefined;
  /** Returns the value that is written if none is given and one must be written. */
  zero(): Json;
}
export type MakeDecoderNode = (schema: Schema) => DecoderNode;

const scalar =
  (
    shape: WireShape,
    decode: (value: ExactJson, state: DecodeState, type: string) => Json | undefined,
  ): MakeDecoderNode =>
  (schema) => {
    const type = goType(schema);
    return { shape, schema, zero: () => zeroOf(shape), decode: (value, state) => decode(value, state, type) };
  };

/** Returns a decoder for text that a Go type parses itself. An invalid text ends decoding at once. */
const parsed = (shape: WireShape, parse: (text: string) => Json | { readonly wrong: string }): MakeDecoderNode =>
  scalar(shape, (value, state) => {
    if (typeof value !== 'string') return state.refuse(jsonKind(value), 'string');
    const result = parse(value);
    if (isWrong(result)) throw new DecodeError(result.wrong);
    return result;
  });
const isWrong = (result: Json | { readonly wrong: string }): result is { readonly wrong: string } =>
  typeof result === 'object' && result !== null;

const integer = (bits: 32 | 64): MakeDecoderNode => {
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

/** Decoder nodes by wire shape. */
export const scalarMakers: Readonly<Record<Exclude<WireShape, 'list' | 'map' | 'struct' | 'union'>, MakeDecoderNode>> =
  {
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
  };
