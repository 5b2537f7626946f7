import { type ParsedJson, parsedPlain, parseExactJson } from './json-exact.js';
import { largeJson, parseInPieces } from './json-pieces.js';
import { code, endOfNumber, endOfString, isDigit, isSpace } from './json-scan.js';
import { endsEarly, syntaxError } from './json-syntax.js';
import { type Json, setMember } from './object.js';
import { runSync, type Steps } from './steps.js';
import { sortedNames } from './text-order.js';

/**
 * Reads JSON as Go's `encoding/json` does: it accepts the same texts, has the same errors, and finds repeated members.
 * Nearly every text is parsed by `JSON.parse` after one linear scan. Only a text with something `JSON.parse` would lose
 * (a repeated member, a number such as `10.0` or one beyond 2^53, a lone surrogate) is parsed a second time, by the
 * exact reader.
 */

const longestExact = String(Number.MAX_SAFE_INTEGER).length;

/**
 * Returns the value of a text that is known to be JSON, such as one written by this program; use `readJson` for
 * untrusted texts. Throws SyntaxError.
 */
export function parseJson(text: string): Json {
  return hasLongNumber(text) ? readJson(text, unlimited).value : (JSON.parse(text) as Json);
}

/** Like `parseJson`, in steps for a text that may be long. */
export function* parseJsonInSteps(text: string): Steps<Json> {
  return hasLongNumber(text) ? (yield* readJsonInSteps(text, unlimited)).value : yield* parseInPieces(text);
}

/** Whether the text is JSON, however long. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Removes the white space between the tokens of a text that is known to be JSON; values stay as written. */
export function compactJson(text: string): string {
  const pieces: string[] = [];
  let begin = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === code.quote) at = endOfString(text, at);
    else if (isSpace(character)) {
      if (at > begin) pieces.push(text.slice(begin, at));
      begin = at + 1;
    }
  }
  return `${pieces.join('')}${text.slice(begin)}`;
}

/** The limits for texts written by this program: none. */
export const unlimited = { maxDepth: Number.POSITIVE_INFINITY, maxValues: Number.POSITIVE_INFINITY };

/** Whether there may be more digits in a row than a double keeps. Inspects every sixteenth character. */
function hasLongNumber(text: string): boolean {
  for (let at = longestExact - 1; at < text.length; at += longestExact) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let start = at;
    while (start > 0 && isDigit(text.charCodeAt(start - 1))) start--;
    let end = at + 1;
    while (end < text.length && isDigit(text.charCodeAt(end))) end++;
    if (end - start >= longestExact) return true;
    at = end - 1;
  }
  return false;
}

/** Thrown for a text that is not JSON. The message is Go's. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
}

/**
 * The maximum nesting. Go's limit is 10,000; `JSON.stringify` and recursive code fail at about 4,000 on the default
 * stack, and this limit works everywhere.
 */
export const maxDepth = 1_000;

/**
 * The maximum number of values (members, items) in a text. Each costs more time than its bytes, during which nothing
 * else runs; even definitions of custom resources that fill etcd's 1.5 MiB hardly have as many.
 */
export const maxJsonValues = 50_000;

interface Limits {
  readonly maxDepth?: number;
  readonly maxValues?: number;
}

/**
 * Reads a whole text. Throws JsonSyntaxError. Bytes that are not UTF-8 become U+FFFD inside strings and are errors
 * outside.
 */
export const readJson = (source: string | Uint8Array, limits: Limits = {}): ParsedJson =>
  runSync(readJsonInSteps(source, limits));

/** Like `readJson`, in steps for a text that may be long. */
export function* readJsonInSteps(source: string | Uint8Array, options: Limits = {}): Steps<ParsedJson> {
  const text = typeof source === 'string' ? source : bufferOf(source).toString('utf8');
  const found = scan(text);
  if (found.depth > (options.maxDepth ?? maxDepth)) throw syntaxErrorOf(source, options.maxDepth);
  const limit = options.maxValues ?? maxJsonValues;
  if (found.values > limit) throw new JsonSyntaxError(`exceeded ${limit} values`);
  yield;
  let value: Json;
  try {
    value = text.length < largeJson ? (JSON.parse(text) as Json) : yield* parseInPieces(text);
  } catch {
    throw syntaxErrorOf(source, options.maxDepth);
  }
  yield;
  if (!found.inexact && (found.members <= 1 || found.members === countMembers(value))) return parsedPlain(value);
  yield;
  return yield* parseExactJson(text);
}

const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const syntaxErrorOf = (source: string | Uint8Array, depth: number | undefined): JsonSyntaxError =>
  new JsonSyntaxError(
    syntaxError(typeof source === 'string' ? Buffer.from(source) : source, depth ?? maxDepth) ?? endsEarly,
  );

interface Scan {
  /** The number of colons outside strings, which is the number of members if the text is JSON. */
  readonly members: number;
  /** The number of commas and opening brackets outside strings, which is at least the number of values. */
  readonly values: number;
  readonly depth: number;
  /** Whether it contains something that `JSON.parse` does not keep. */
  readonly inexact: boolean;
}

/** Scans a text, which need not be JSON, in one pass, skipping strings. */
function scan(text: string): Scan {
  const { length } = text;
  let members = 0;
  let values = 0;
  let level = 0;
  let depth = 0;
  let inexact = text.includes('\\u') && /\\u[dD][89a-fA-F]/.test(text);
  for (let at = 0; at < length; at++) {
    const character = text.charCodeAt(at);
    if (character === code.quote) {
      at = endOfString(text, at);
      if (at < 0) break;
    } else if (character === code.colon) members++;
    else if (character === code.comma) values++;
    else if (character === code.openBrace || character === code.openBracket) {
      values++;
      if (++level > depth) depth = level;
    } else if (character === code.closeBrace || character === code.closeBracket) level--;
    else if (character === code.minus || isDigit(character)) {
      const end = endOfNumber(text, at);
      if (end - at > 1 && !inexact) {
        const literal = text.slice(at, end);
        inexact = literal.length >= longestExact || String(Number(literal)) !== literal;
      }
      at = end - 1;
    }
  }
  return { members, values, depth, inexact };
}

function countMembers(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) count += countMembers(item);
    return count;
  }
  const members = value as { readonly [member: string]: Json };
  for (const name in members) {
    count++;
    const member = members[name];
    if (typeof member === 'object' && member !== null) count += countMembers(member);
  }
  return count;
}

/** Returns an object with these members, sorted by name. */
export function sortedObject<T>(members: ReadonlyMap<string, T>): { readonly [member: string]: T } {
  const out: Record<string, T> = {};
  for (const name of sortedNames(members)) setMember(out, name, members.get(name) as T);
  return out;
}

const dumpLength = 30;

/** Returns the beginning of a body as errors show it: text if it starts with `{`, else hexadecimal; at most 30 bytes. */
export function dumpBody(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>';
  const buffer = bufferOf(bytes);
  const head = buffer.subarray(0, dumpLength).toString(buffer[0] === code.openBrace ? 'utf8' : 'hex');
  return buffer.length > dumpLength ? `${head} ...` : head;
}
