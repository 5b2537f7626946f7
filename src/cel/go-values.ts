import { NonJsonValue } from '../api/go-print.js';
import { goDuration, quote } from '../api/go-text.js';
import type { Json } from '../api/object.js';
import { isJsonBacked } from './json-values.js';
import { timestampText } from './library/timestamps.js';
import { valueText } from './library/value-text.js';
import { Duration, isList, Optional, Timestamp, TypeValue, Uint, type Value } from './values.js';

/** Values as the Go types that represent them in Kubernetes, as some error messages show them. */

/** Returns the Go type of a value as `%T` prints it. */
export function goTypeOf(value: Value): string {
  if (value === null) return 'structpb.NullValue';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'int64';
  if (typeof value === 'number') return 'float64';
  if (typeof value === 'string' || value instanceof TypeValue) return 'string';
  if (value instanceof Uint) return 'uint64';
  if (value instanceof Uint8Array) return '[]uint8';
  if (value instanceof Duration) return 'time.Duration';
  if (value instanceof Timestamp) return 'time.Time';
  if (value instanceof Optional) return value.value === undefined ? '<nil>' : goTypeOf(value.value);
  if (!('kind' in value)) return '*types.Err';
  if (value.kind === 'list') return isJsonBacked(value) ? '[]interface {}' : '[]ref.Val';
  if (value.kind === 'map') return isJsonBacked(value) ? 'map[string]interface {}' : 'map[ref.Val]ref.Val';
  return value.kind === 'struct' ? 'map[string]interface {}' : value.name;
}

/** Wraps a value that JSON cannot represent. Messages print only a few of its parts. */
export const foreign = (source: Value): Json =>
  new NonJsonValue({
    get type() {
      return goTypeOf(source);
    },
    get value() {
      return shortened(printed(source, 0));
    },
    get syntax() {
      return shortened(syntaxOf(source, 0));
    },
  }) as unknown as Json;

/** The maximum length of a printed value; a message may contain many of them. */
const longest = 1_000;
const shortened = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}...` : text);

const maxShown = 20;
const deepest = 5;

/** Formats a value as `%v` does. */
function printed(value: Value, depth: number): string {
  if (value === null) return 'NULL_VALUE';
  if (value instanceof Duration) return goDuration(Number(value.nanoseconds) / 1e6);
  const parts = partsOf(value, depth);
  if (parts === undefined) return valueText(value);
  const texts = parts.map(([key, part]) => (key === undefined ? '' : `${key}:`) + printed(part, depth + 1));
  return isList(value) ? `[${texts.join(' ')}]` : `map[${texts.sort().join(' ')}]`;
}

/** Formats a value as `%#v` does. */
function syntaxOf(value: Value, depth: number): string {
  if (value === null) return '0';
  if (typeof value === 'string') return quote(value);
  if (value instanceof Duration) return String(value.nanoseconds);
  if (value instanceof Uint8Array) {
    const bytes = [...value.subarray(0, maxShown)].map((byte) => `0x${byte.toString(16)}`);
    return `[]uint8{${bytes.join(', ')}}`;
  }
  if (value instanceof Timestamp) return dateSyntax(value);
  const parts = partsOf(value, depth);
  if (parts === undefined) return valueText(value);
  const texts = parts.map(([key, part]) => (key === undefined ? '' : `${quote(key)}:`) + syntaxOf(part, depth + 1));
  return `${goTypeOf(value)}{${texts.join(', ')}}`;
}

function partsOf(value: Value, depth: number): readonly (readonly [string | undefined, Value])[] | undefined {
  if (typeof value !== 'object' || value === null || !('kind' in value) || depth > deepest) return undefined;
  if (value.kind === 'list') {
    return Array.from({ length: Math.min(value.size, maxShown) }, (_, at) => [undefined, value.at(at)] as const);
  }
  if (value.kind !== 'map') return undefined;
  const parts: (readonly [string, Value])[] = [];
  for (const key of value.keys()) {
    if (parts.length === maxShown) break;
    parts.push([valueText(key), value.get(key) ?? null]);
  }
  return parts;
}

const months = 'January February March April May June July August September October November December'.split(' ');

function dateSyntax(value: Timestamp): string {
  const [date = '', time = ''] = timestampText({ ...value, offset: 0 }).split('T');
  const [year, month, day] = date.split('-').map(Number);
  const [hours, minutes, seconds] = time.slice(0, 8).split(':').map(Number);
  const nanoseconds = ((value.nanoseconds % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  return `time.Date(${[year, `time.${months[(month ?? 1) - 1]}`, day, hours, minutes, seconds, nanoseconds, 'time.UTC'].join(', ')})`;
}

/** Formats a number as `%q` does: as the character with that code. */
export function goRune(value: Value): string {
  const code = value instanceof Uint ? value.value : value;
  if (typeof code !== 'bigint') return `%!q(types.Bool=${code})`;
  const character = code >= 0n && code <= 0x10_ffffn ? String.fromCodePoint(Number(code)) : '\ufffd';
  return `'${quote(character).slice(1, -1)}'`;
}
