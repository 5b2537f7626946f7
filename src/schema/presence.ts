import type { Json } from '../api/object.js';
import { type WireShape, wireShape } from './go-types.js';
import type { Schema, WireFacts } from './schema.js';

/** When struct members are written, and their zero values. */

/**
 * Returns the presence of a member (see WireFacts). By default structs are always written, and other members are
 * omitted when empty.
 */
export const presenceOf = (schema: Schema): NonNullable<WireFacts['presence']> =>
  schema.wire?.presence ?? (wireShape(schema) === 'struct' ? 'always' : 'omitempty');

/** Whether the field is a pointer in Go, so that absent and zero values differ. */
export function isPointer(schema: Schema): boolean {
  const presence = presenceOf(schema);
  return presence === 'pointer' || presence === 'null';
}

/** Shapes that Go's `omitempty` never considers empty. */
const neverEmpty: ReadonlySet<WireShape> = new Set<WireShape>(['struct', 'raw', 'union', 'int-or-string', 'quantity']);

/** Whether a member with this schema is omitted when empty. */
export const omitsEmpty = (schema: Schema): boolean =>
  presenceOf(schema) === 'omitempty' && !neverEmpty.has(wireShape(schema));

/** Whether a value is empty: zero, false, "", null, no items or no members. */
export function isEmpty(value: Json): boolean {
  if (typeof value !== 'object') return value === '' || value === 0 || value === false;
  if (value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  for (const _ in value) return false;
  return true;
}

/** The zero values of shapes other than structs, as they are printed; null for shapes that are not listed. */
const zeros: Partial<Record<WireShape, Json>> = {
  string: '',
  quantity: '0',
  int32: 0,
  int64: 0,
  double: 0,
  boolean: false,
  'int-or-string': 0,
};

/** Returns the zero value of a shape; null for lists, maps, times, bytes and raw values. */
export const zeroOf = (shape: WireShape): Json => zeros[shape] ?? null;
