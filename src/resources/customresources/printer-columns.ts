import { goInt64, goJson, goNumber } from '../../api/go-text.js';
import { canonicalTime, parseRfc3339 } from '../../api/go-time.js';
import type { CustomResourceColumnDefinition } from '../../api/kinds/custom-resource-definition.js';
import type { ApiObject, Json } from '../../api/object.js';
import { humanDuration } from '../../api/time.js';
import type { Column } from '../../registry/resource-definition.js';
import { sortDeep } from '../../schema/sort-members.js';
import { age } from '../columns.js';
import { type JsonPath, mostValues, parseJsonPath, TextByte } from './json-path.js';

const ageColumn: CustomResourceColumnDefinition = {
  name: age.name,
  type: 'date',
  description: age.description,
  jsonPath: '.metadata.creationTimestamp',
};

/** Returns the table columns of a custom resource. An invalid path ends the list; without columns there is the age. */
export function printerColumns(declared: readonly CustomResourceColumnDefinition[] | undefined): readonly Column[] {
  const columns: Column[] = [];
  const effective = declared?.length ? declared : [ageColumn];
  const most = mostValues(effective.length);
  for (const column of effective) {
    const path = parseJsonPath(column.jsonPath, most);
    if (path === undefined) break;
    columns.push(columnOf(column, path, most));
  }
  return columns;
}

const columnOf = (
  { name, type, format, description, priority, jsonPath }: CustomResourceColumnDefinition,
  path: JsonPath,
  most: number,
): Column => ({
  name,
  type,
  ...(format ? { format } : {}),
  description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
  ...(priority ? { priority } : {}),
  cell: (object: ApiObject, now) => {
    const found = path.find(object);
    if (found === undefined || found.length === 0 || sizeOf(found[0]) > most) return null;
    return cellOf(type, found[0], now);
  },
});

const sizes = new WeakMap<object, number>();

/** Returns the work of printing a value: 1 for each value and for each 64 characters. Cached: columns are many. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 1 + value.length / 64;
  if (typeof value !== 'object' || value === null) return 1;
  const known = sizes.get(value);
  if (known !== undefined) return known;
  let size = 0;
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) size += sizeOf(next);
    else {
      size++;
      for (const inner of Object.values(next)) waiting.push(inner);
    }
  }
  sizes.set(value, size);
  return size;
}

function cellOf(type: string, value: unknown, now: number): unknown {
  if (type === 'string') return printed(value);
  if (typeof value === 'number' || typeof value === 'bigint') {
    if (type === 'number') return Number(value);
    if (type !== 'integer') return null;
    return typeof value === 'bigint' || Number.isSafeInteger(value) ? value : goInt64(value);
  }
  if (type === 'boolean') return typeof value === 'boolean' ? value : null;
  return type === 'date' && typeof value === 'string' ? ageOf(value, now) : null;
}

function printed(value: unknown): string {
  if (value === null || value === undefined) return '<no value>';
  if (typeof value === 'number') return goNumber(value);
  return typeof value === 'object' && !(value instanceof TextByte) ? goJson(sortDeep(value as Json)) : String(value);
}

/** The longest duration that Go can represent, in milliseconds. */
const longestMs = 2 ** 63 / 1e6;

function ageOf(text: string, now: number): string {
  if (text === '' || text === 'null') return '<unknown>';
  const at = parseRfc3339(text);
  if (at === undefined) return '<invalid>';
  if (canonicalTime(text) === null) return '<unknown>';
  return humanDuration(Math.min(now - Math.floor(at / 1_000) * 1_000, longestMs));
}
