import { isUtf8 } from 'node:buffer';
import type { Json, JsonObject } from './object.js';
import { itemsPerStep, type Steps } from './steps.js';
import { sortedNames } from './text-order.js';

/** Prints values as Go does in error messages (`%q`, `encoding/json`): clients compare these texts. */

const escapes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
};
const plain = /^[ !#-[\]-~]*$/;
const quoted = /["\\\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/** Quotes a string as Go's `%q` does; bytes that were not UTF-8 (`utf8Text`) as the bytes they were. */
export function quote(text: string): string {
  return plain.test(text) ? `"${text}"` : `"${text.replace(quoted, escaped)}"`;
}

/** Quotes bytes as `%q` does a string of them: invalid UTF-8 is escaped byte by byte. */
export function quoteBytes(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isUtf8(buffer)) return quote(buffer.toString('utf8'));
  let text = '';
  for (let at = 0; at < buffer.length; ) {
    const length = characterLengths.find(
      (size) => at + size <= buffer.length && isUtf8(buffer.subarray(at, at + size)),
    );
    text += length === undefined ? `\\x${buffer.toString('hex', at, at + 1)}` : inQuotes(buffer, at, length);
    at += length ?? 1;
  }
  return `"${text}"`;
}

const characterLengths = [1, 2, 3, 4];
const inQuotes = (bytes: Buffer, at: number, length: number): string =>
  quote(bytes.toString('utf8', at, at + length)).slice(1, -1);

function escaped(character: string): string {
  const known = escapes[character];
  if (known !== undefined) return known;
  const code = character.codePointAt(0) ?? 0;
  const isByte = code >= 0xdc80 && code <= 0xdcff;
  if (code < 0x80 || isByte) return `\\x${(code & 0xff).toString(16).padStart(2, '0')}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, '0')}`;
  return `\\U${code.toString(16).padStart(8, '0')}`;
}

const everyHtmlSensitive = /[<>&\u2028\u2029]/g;
/** Five searches are an order of magnitude faster than one regular expression. */
const isHtmlSensitive = (text: string): boolean =>
  text.includes('<') || text.includes('>') || text.includes('&') || text.includes('\u2028') || text.includes('\u2029');
const escapeHtml = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Encodes JSON as Go does: `<`, `>`, `&` and line separators escaped. Compact unless `indent` (of a level) is given. */
export function goJson(value: unknown, indent?: number): string {
  const text = stringify(value, indent) ?? 'null';
  return htmlEscaped(text);
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
/** Escapes plain text so that it is safe to show in a browser. */
export const entitiesFor = (text: string): string =>
  text.replace(/[&<>]/g, (character) => entities[character] ?? character);

/** Escapes the characters of HTML in a JSON text as Go does. */
export const htmlEscaped = (text: string): string =>
  isHtmlSensitive(text) ? text.replace(everyHtmlSensitive, escapeHtml) : text;

/** Values nested deeper than this are left out of `sortedJson`. */
const deepestSorted = 1_000;

/** Encodes JSON compactly with sorted members, as Go encodes maps, so that equal values have equal texts. */
export const sortedJson = (value: Json): string => htmlEscaped(withSortedNames(value, 0));

function withSortedNames(value: unknown, depth: number): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (depth > deepestSorted) return '';
  if (Array.isArray(value)) return `[${value.map((item) => withSortedNames(item, depth + 1)).join()}]`;
  const members = value as { readonly [name: string]: unknown };
  const texts = sortedNames(members).map(
    (name) => `${JSON.stringify(name)}:${withSortedNames(members[name], depth + 1)}`,
  );
  return `{${texts.join()}}`;
}

/** The depth of the owned labels of an object in a list; anything deeper is written together with its parent. */
const deepest = 10;

/** Like compact `goJson`, in steps for a value that may be large. */
export function* goJsonInSteps(value: Json, depth = 0): Steps<string> {
  if (depth > deepest || typeof value !== 'object' || value === null) return goJson(value);
  const texts: string[] = [];
  if (Array.isArray(value)) {
    const items = value as readonly Json[];
    if (items.length > itemsPerStep) {
      for (let begin = 0; begin < items.length; begin += itemsPerStep) {
        texts.push(goJson(items.slice(begin, begin + itemsPerStep)).slice(1, -1));
        yield;
      }
    } else for (const item of items) texts.push(yield* goJsonInSteps(item, depth + 1));
    return `[${texts.join()}]`;
  }
  const members = value as JsonObject;
  const names = Object.keys(members);
  const isLarge = names.length > itemsPerStep;
  for (const [at, name] of names.entries()) {
    const member = members[name];
    if (member === undefined) continue;
    texts.push(`${goJson(name)}:${isLarge ? goJson(member) : yield* goJsonInSteps(member, depth + 1)}`);
    if (!isLarge || at % itemsPerStep === 0) yield;
  }
  return `{${texts.join()}}`;
}

/** Like `JSON.stringify`, but writes bigints as numbers. */
export function stringify(value: unknown, indent = 0): string | undefined {
  try {
    return JSON.stringify(value, undefined, indent);
  } catch (error) {
    // Bigints are rare, so only a value that has one is written by hand.
    if (error instanceof TypeError && error.message.includes('BigInt')) return writeJson(value, indent, '\n');
    throw error;
  }
}

function writeJson(value: unknown, indent: number, lineBreak: string): string | undefined {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if ('toJSON' in value && typeof value.toJSON === 'function') return writeJson(value.toJSON(), indent, lineBreak);
  const inner = `${lineBreak}${' '.repeat(indent)}`;
  const joined = (open: string, items: readonly string[], close: string): string => {
    if (items.length === 0) return open + close;
    return indent > 0
      ? `${open}${inner}${items.join(`,${inner}`)}${lineBreak}${close}`
      : `${open}${items.join()}${close}`;
  };
  if (Array.isArray(value)) {
    return joined(
      '[',
      value.map((item) => writeJson(item, indent, inner) ?? 'null'),
      ']',
    );
  }
  const members: string[] = [];
  for (const name of Object.keys(value)) {
    const text = writeJson((value as Readonly<Record<string, unknown>>)[name], indent, inner);
    if (text !== undefined) members.push(`${JSON.stringify(name)}:${indent > 0 ? ' ' : ''}${text}`);
  }
  return joined('{', members, '}');
}

/** Lower-cases ASCII letters only: beyond ASCII, different letters may share a lower case. */
export const asciiLowerCase = (text: string): string => text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());

/**
 * Lower-cases as Go does, letter by letter: JavaScript turns the capital I with a dot into two characters, and uses a final
 * sigma at the end of a word.
 */
export const goLowerCase = (text: string): string =>
  text.replaceAll('\u0130', 'i').replaceAll('\u03a3', '\u03c3').toLowerCase();

/** Formats a float as Go's `%v` does. */
export function goFloatText(value: number): string {
  const size = Math.abs(value);
  if (size === 0 || (size >= 1e-4 && size < 1e6)) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}

/** Formats a number as Go's `%v` does; whole numbers are int64. */
export const goNumber = (value: number | bigint): string =>
  typeof value === 'bigint' || Number.isSafeInteger(value) ? String(value) : goFloatText(value);

/** Converts a float to int64 as Go does on amd64: truncated, and the smallest int64 if it is out of range. */
export const goInt64 = (value: number): bigint =>
  Math.abs(value) < 2 ** 63 ? BigInt(Math.trunc(value)) : -(2n ** 63n);

/** Formats milliseconds as Go prints a time.Duration, to the nanosecond: `1.5ms`, `2m0.25s`. */
export function goDuration(milliseconds: number): string {
  const nanoseconds = Math.round(Math.abs(milliseconds) * 1e6);
  const sign = milliseconds < 0 && nanoseconds > 0 ? '-' : '';
  if (nanoseconds === 0) return '0s';
  if (nanoseconds < 1e3) return `${sign}${nanoseconds}ns`;
  if (nanoseconds < 1e6) return `${sign}${decimal(nanoseconds, 3)}µs`;
  if (nanoseconds < 1e9) return `${sign}${decimal(nanoseconds, 6)}ms`;
  const minutes = Math.floor(nanoseconds / 60e9);
  const seconds = `${decimal(nanoseconds - minutes * 60e9, 9)}s`;
  const hours = Math.floor(minutes / 60);
  return `${sign}${hours > 0 ? `${hours}h` : ''}${minutes > 0 ? `${minutes % 60}m` : ''}${seconds}`;
}

/** Formats a whole number scaled down by a number of decimal places, without trailing zeros. */
const decimal = (value: number, places: number): string =>
  `${Math.floor(value / 10 ** places)}.${String(value % 10 ** places).padStart(places, '0')}`.replace(/\.?0+$/, '');

/** Joins error texts as Kubernetes' `NewAggregate` does: without repeats; one text bare, several as `[a, b]`. */
export function aggregate(texts: readonly string[]): string {
  const distinct = [...new Set(texts)];
  return distinct.length === 1 ? (distinct[0] ?? '') : `[${distinct.join(', ')}]`;
}

/** Formats a list of strings as Go's `%q` prints a slice: `["a" "b"]`. */
export const quoteList = (items: readonly string[]): string => `[${items.map(quote).join(' ')}]`;

const spaces = new Set('\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000');
const isSpace = (unit = ''): boolean => spaces.has(unit) || (unit >= '\u2000' && unit <= '\u200a');

/** Trims white space at both ends as Go's `strings.TrimSpace` defines it, which differs from JavaScript. */
export function trimSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text[start])) start++;
  while (start < end && isSpace(text[end - 1])) end--;
  return text.slice(start, end);
}
