import { goFloatText } from '../../api/go-text.js';
import { Duration, Optional, Timestamp, TypeValue, Uint, type Value } from '../values.js';
import { timestampText } from './timestamps.js';

/** Formats a double as Go's `%g` does: `1.5`, `1e+20`, `+Inf`. */
export function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  return Object.is(value, -0) ? '-0' : goFloatText(value);
}

/** Formats a duration in seconds: `5400s`, `0.000001s`. */
export function durationText({ nanoseconds }: Duration): string {
  const wholeSeconds = nanoseconds / 1_000_000_000n;
  const seconds = Number(wholeSeconds) + Number(nanoseconds - wholeSeconds * 1_000_000_000n) / 1e9;
  if (seconds === 0) return '0s';
  const text = String(seconds);
  return `${text.includes('e') ? seconds.toFixed(20).replace(/0+$/, '') : text}s`;
}

/** Formats a value as Go's `%v` does in error messages; of lists and maps only the beginning. */
export function valueText(value: Value | undefined, depth = 0): string {
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return doubleText(value);
  if (value === null || value === undefined) return '0';
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Uint8Array) return `[${value.subarray(0, maxShown).join(' ')}]`;
  if (value instanceof Timestamp) return momentText(value);
  if (value instanceof Duration) return durationText(value);
  if (value instanceof TypeValue) return value.name;
  if (value instanceof Optional || !('kind' in value) || depth > 4) return '...';
  if (value.kind === 'list') {
    const items = Array.from({ length: Math.min(value.size, maxShown) }, (_, at) => valueText(value.at(at), depth + 1));
    return `[${items.join(', ')}]`;
  }
  if (value.kind !== 'map') return value.name;
  const entries: string[] = [];
  for (const key of value.keys()) {
    if (entries.length >= maxShown) break;
    entries.push(`${valueText(key, depth + 1)}: ${valueText(value.get(key), depth + 1)}`);
  }
  return `{${entries.join(', ')}}`;
}
const maxShown = 20;

/** Formats a timestamp with its offset from UTC twice, the second time as the name of the zone. */
function momentText(value: Timestamp): string {
  const [, date, time, zone = ''] = /^(.*)T(.*?)(Z|[+-]\d\d:\d\d)$/.exec(timestampText(value)) ?? [];
  const offset = zone.replace(':', '');
  return `${date} ${time} ${zone === 'Z' ? '+0000 UTC' : `${offset} ${offset}`}`;
}
