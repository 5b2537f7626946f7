import { goJson, sortedJson } from '../api/go-text.js';
import type { Json } from '../api/object.js';
import { notSupported } from '../api/violations.js';
import { printable } from './printable.js';
import { same } from './same.js';
import type { Schema } from './schema.js';
import type { Check } from './validate-scalars.js';

/** Validates enums. */

/** Converts a number as Go does before a comparison: a fraction is truncated, an integer is a character. */
function converted(value: unknown): unknown {
  if (typeof value !== 'number') return value;
  if (!Number.isSafeInteger(value)) return Math.trunc(value);
  return value >= 0 && value <= 0x10ffff ? String.fromCodePoint(value) : '\ufffd';
}

/** The number of objects up to which they are compared one by one; for more there is an index. */
const fewObjects = 8;

/** Compiles the check of an enum; returns undefined if there is none. */
export function compileEnum({ enum: allowed }: Schema): Check | undefined {
  if (allowed === undefined || allowed.length === 0) return undefined;
  const shown = allowed.map((value) => (typeof value === 'string' ? value : goJson(printable(value))));
  const scalars = new Set<unknown>(allowed.filter((value) => typeof value !== 'object'));
  const others = allowed.filter((value) => typeof value === 'object' && value !== null);
  // Otherwise each of many items would be compared with each of many objects.
  const texts = others.length > fewObjects ? new Set(others.map(sortedJson)) : undefined;
  const isOther = (value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    (texts?.has(sortedJson(value as Json)) ?? others.some((other) => same(other, value)));
  return (value, at) => {
    at.spend(Math.min(others.length, fewObjects));
    if (scalars.has(value) || scalars.has(converted(value)) || isOther(value)) return 1;
    at.fail((path) => notSupported(path, typeof value === 'object' ? printable(value as Json) : value, shown));
    return 0;
  };
}
