import { goFloatText, goJson, quote } from '../api/go-text.js';
import { parseJson, readJson } from '../api/json-text.js';
import { isList, isObject, type Json, type JsonObject } from '../api/object.js';
import { compareText, sortTexts } from '../api/text-order.js';

/**
 * One element of a field path in the form of FieldsV1 (KEP-555): `f:<name>` for a member, `k:<json>` for the list item
 * with these keys, `v:<json>` for the set item with this value, `i:<number>` for the item at an index. In canonical
 * form, equal elements are equal strings.
 */
export type PathElement = string;

export const fieldElement = (name: string): PathElement => `f:${name}`;
export const valueElement = (value: Json): PathElement => `v:${goJson(value)}`;
export const indexElement = (at: number): PathElement => `i:${at}`;

/** Returns the element of a list item with these keys, which may be in any order. */
export function keyElement(keys: readonly (readonly [name: string, value: Json])[]): PathElement {
  const only = keys[0];
  if (keys.length === 1 && only !== undefined) return `k:{${goJson(only[0])}:${goJson(only[1])}}`;
  const sorted = [...keys].sort(([a], [b]) => compareText(a, b));
  return `k:{${sorted.map(([name, value]) => `${goJson(name)}:${goJson(value)}`).join(',')}}`;
}

/** Returns the name of the member that an element leads to; undefined for elements of lists. */
export const fieldNameOf = (element: PathElement): string | undefined =>
  element.startsWith('f:') ? element.slice(2) : undefined;

/** The limits for keys in elements from clients. Lists have only a few keys. */
const keyLimits = { maxDepth: Number.POSITIVE_INFINITY, maxValues: 1_000 };

/**
 * Parses an element that a client has sent, which may not be canonical; undefined for an element of an unknown kind,
 * which is ignored.
 *
 * @throws Error with the text of Go if it is malformed
 */
export function readPathElement(text: string): PathElement | undefined {
  if (text.length < 2) throw new Error('key must be 2 characters long:');
  if (text[1] !== ':') throw new Error(`missing colon: ${text}`);
  const content = text.slice(2);
  switch (text[0]) {
    case 'f':
      return text;
    case 'v':
      return valueElement(parseJson(content));
    case 'k': {
      const keys = readJson(content, keyLimits).value;
      if (!isObject(keys)) throw new Error(`expected an object: ${text}`);
      return keyElement(Object.entries(keys));
    }
    case 'i': {
      if (!/^[+-]?\d{1,18}$/.test(content)) throw new Error(`strconv.Atoi: parsing ${quote(content)}: invalid syntax`);
      return indexElement(Number(content));
    }
    default:
      return undefined;
  }
}

/** Formats an element as error texts do: `.data`, `[name="x"]`, `[="v"]`, `[0]`. */
function printPathElement(element: PathElement, printNumber: PrintNumber): string {
  const content = element.slice(2);
  switch (element[0]) {
    case 'k': {
      const keys = Object.entries(parseJson(content) as JsonObject);
      return `[${keys.map(([name, value]) => `${name}=${printed(value, printNumber)}`).join(',')}]`;
    }
    case 'v':
      return `[=${printed(parseJson(content), printNumber)}]`;
    case 'i':
      return `[${content}]`;
    default:
      return `.${content}`;
  }
}

type PrintNumber = (value: number | bigint) => string;

/**
 * Formats a path as error texts do. In applied objects whole numbers are integers; numbers in FieldsV1 are read as
 * floats.
 */
export const printPath = (
  path: readonly PathElement[],
  printNumber: PrintNumber = (value) => goFloatText(Number(value)),
): string => path.map((element) => printPathElement(element, printNumber)).join('');

function printed(value: Json, printNumber: PrintNumber): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number' || typeof value === 'bigint') return printNumber(value);
  if (isList(value)) return `[${value.map((item) => printed(item, printNumber)).join(',')}]`;
  if (isObject(value))
    return Object.entries(value)
      .map(([key, item]) => `${key}=${printed(item, printNumber)}`)
      .join('');
  return String(value);
}

/** Returns the elements in the order of FieldsV1: members by name, then keys, values and indexes, each by content. */
export function sortPathElements(elements: Iterable<PathElement>): PathElement[] {
  const sorted = [...elements];
  if (sorted.length < 2) return sorted;
  if (sorted.every((element) => element.startsWith('f:'))) return sortTexts(sorted);
  const begin = beforeText.exec(sorted[0] ?? '')?.[0] ?? '';
  const end = begin.startsWith('k') ? '"}' : '"';
  const texts = begin === '' ? undefined : textsBetween(begin, sorted, end);
  if (texts !== undefined) return sortTexts(texts).map((text) => `${begin}${text}${end}`);
  return sorted
    .map((element) => ({ element, rank: ranks[element[0] ?? ''] ?? 0, content: contentOf(element) }))
    .sort((a, b) => a.rank - b.rank || compareContent(a.content, b.content))
    .map(({ element }) => element);
}

/** Matches the beginning of an element whose only key or value is a string, as in most lists. */
const beforeText = /^(?:k:\{"[^"\\]*":|v:)"/;

/**
 * Returns the strings between `begin` and `end` in all elements; undefined if an element has another form, or a string
 * with escapes.
 */
function textsBetween(begin: string, elements: readonly PathElement[], end: string): string[] | undefined {
  const texts: string[] = [];
  for (const element of elements) {
    if (!element.startsWith(begin) || !element.endsWith(end)) return undefined;
    const text = element.slice(begin.length, -end.length);
    if (/["\\]/.test(text)) return undefined;
    texts.push(text);
  }
  return texts;
}
const ranks: Readonly<Record<string, number>> = { f: 0, k: 1, v: 2, i: 3 };

function contentOf(element: PathElement): Json {
  const content = element.slice(2);
  if (element[0] === 'f') return content;
  const parsed = parseJson(content) as Json;
  return element[0] === 'k' && isObject(parsed) ? Object.entries(parsed).flat() : parsed;
}

/** Compares contents of elements: numbers come before strings, booleans, lists, maps and null. */
function compareContent(left: Json, right: Json): number {
  const kinds = kindRank(left) - kindRank(right);
  if (kinds !== 0) return kinds;
  if (isNumber(left) && isNumber(right)) return left < right ? -1 : left > right ? 1 : 0;
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right);
  if (typeof left === 'boolean') return Number(left) - Number(right);
  if (isList(left) && isList(right)) {
    for (let at = 0; at < Math.min(left.length, right.length); at++) {
      const order = compareContent(left[at] ?? null, right[at] ?? null);
      if (order !== 0) return order;
    }
    return left.length - right.length;
  }
  return compareText(goJson(left), goJson(right));
}
const isNumber = (value: Json): value is number | bigint => typeof value === 'number' || typeof value === 'bigint';
function kindRank(value: Json): number {
  if (isNumber(value)) return 0;
  if (typeof value === 'string') return 1;
  if (typeof value === 'boolean') return 2;
  if (isList(value)) return 3;
  return value === null ? 5 : 4;
}
