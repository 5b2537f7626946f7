import { timestampText } from '../../src/cel/library/timestamps.js';
import { doubleText } from '../../src/cel/library/value-text.js';
import { Duration, Failure, Optional, Timestamp, TypeValue, Uint, type Value } from '../../src/cel/values.js';

/**
 * Formats a value as tables in tests have it: `1`, `1u`, `1d`, `"a"`, `b"61"`, `[1, 2]`, `{"a": 1}`, `duration(1)`,
 * `failed: why`.
 */
export function written(value: Value): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') return `${doubleText(value)}d`;
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof Failure) return `failed: ${value.message}`;
  if (value instanceof Uint) return `${value.value}u`;
  if (value instanceof Uint8Array) return `b"${Buffer.from(value).toString('hex')}"`;
  if (value instanceof Duration) return `duration(${value.nanoseconds})`;
  if (value instanceof Timestamp) return `timestamp(${timestampText(new Timestamp(value.nanoseconds))})`;
  if (value instanceof TypeValue) return `type(${value.name})`;
  if (value instanceof Optional)
    return value.value === undefined ? 'optional.none' : `optional(${written(value.value)})`;
  switch (value.kind) {
    case 'list':
      return `[${Array.from({ length: value.size }, (_, index) => written(value.at(index))).join(', ')}]`;
    case 'map':
      return `{${[...value.keys()].map((key) => `${written(key)}: ${written(value.get(key) as Value)}`).join(', ')}}`;
    case 'struct':
      return `${value.name}{${[...value.fields()].map((name) => `${name}: ${written(value.get(name) as Value)}`).join(', ')}}`;
    default:
      return value.name;
  }
}
