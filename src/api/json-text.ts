import { Complaints } from './complaints.js';
import { quote } from './go-text.js';
import { parseInPieces } from './json-pieces.js';
import { code, endOfString } from './json-scan.js';
import { type Json, type JsonObject, setMember } from './object.js';
import { atOnce, type Steps } from './steps.js';

/**
 * Reads JSON as Go's `encoding/json` does: same acceptance, same error texts, repeated members found.
 *
 * Nearly every text is read by `JSON.parse` after one linear scan. Only a text that holds something `JSON.parse` would
 * lose (a member given twice, a number such as `10.0` or one beyond 2^53, half a surrogate pair) is read a second time,
 * by the exact reader.
 */
export interface ReadText {
  /** The value; of repeated members the last. */
  readonly value: Json;
  /** The value with what JavaScript would lose. The same object as `value` if there is nothing of the kind. */
  readonly exact: ExactJson;
  /** `duplicate field "spec.x"` per repeated member, in document order, each once, at most 100. */
  readonly duplicates: readonly string[];
  /** Go's complaint about a number that no double can hold, where the value has no schema to complain. */
  readonly numberError?: string;
}

/** JSON with number literals and repeated members kept. */
export type ExactJson =
  | null
  | boolean
  | number
  | bigint
  | string
  | NumberText
  | RepeatedMembers
  | readonly ExactJson[]
  | { readonly [member: string]: ExactJson };

/** A number whose text is not the one JavaScript would print, and which is no int64: `10.0`, `1e3`, `9223372036854775808`. */
export class NumberText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }

  /** The nearest double. */
  get double(): number {
    return Number(this.text);
  }
}

const longestExact = String(Number.MAX_SAFE_INTEGER).length;

/** A whole number of JSON: a bigint where only that keeps its digits; undefined if 64 bits do not hold it, or it is not whole. */
export function wholeNumber(literal: string): number | bigint | undefined {
  if (literal.length > 20 || !/^-?\d+$/.test(literal)) return undefined;
  const value = Number(literal);
  if (Number.isSafeInteger(value)) return Object.is(value, -0) ? undefined : value;
  const whole = BigInt(literal);
  return BigInt.asIntN(64, whole) === whole ? whole : undefined;
}

/**
 * The value of a text that is known to be JSON, such as one this program wrote; for what strangers wrote there is
 * `readJson`. Throws SyntaxError.
 */
export function parseJson(text: string): Json {
  return hasLongNumber(text) ? readJson(text, unlimited).value : (JSON.parse(text) as Json);
}

/** The same of a text that may be long. */
export function* parseJsonInSteps(text: string): Steps<Json> {
  return hasLongNumber(text) ? (yield* readJsonInSteps(text, unlimited)).value : yield* parseInPieces(text);
}

const unlimited = { maxDepth: Number.POSITIVE_INFINITY, maxValues: Number.POSITIVE_INFINITY };

/** Are there so many digits in a row that a double might not keep them? Looks at every sixteenth character. */
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

/** An object with a member given more than once: all of them, in document order. */
export class RepeatedMembers {
  readonly members: readonly (readonly [string, ExactJson])[];
  constructor(members: readonly (readonly [string, ExactJson])[]) {
    this.members = members;
  }
}

/** The text is not JSON. The message is Go's. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
}

/**
 * Deepest nesting accepted. Go stops at 10,000; `JSON.stringify` and recursive code stop at about 4,000 on the default
 * stack, so the limit is where all of it still works.
 */
export const maxDepth = 1_000;

/**
 * Most values (members, items) of a text. Every one costs more time than its bytes do, all of it at the expense of
 * everybody else; even definitions of custom resources that fill etcd's 1.5 MiB hardly have as many.
 */
export const maxJsonValues = 50_000;

interface Limits {
  readonly maxDepth?: number;
  readonly maxValues?: number;
}

/** Reads a whole text. Throws JsonSyntaxError. Bytes that are not UTF-8 become U+FFFD inside strings and errors outside. */
export const readJson = (source: string | Uint8Array, limits: Limits = {}): ReadText =>
  atOnce(readJsonInSteps(source, limits));

/** The same for a text that may be long. */
export function* readJsonInSteps(source: string | Uint8Array, options: Limits = {}): Steps<ReadText> {
  const text = typeof source === 'string' ? source : bufferOf(source).toString('utf8');
  const found = scan(text);
  if (found.depth > (options.maxDepth ?? maxDepth)) throw syntaxErrorOf(source, options.maxDepth);
  const limit = options.maxValues ?? maxJsonValues;
  if (found.values > limit) throw new JsonSyntaxError(`exceeded ${limit} values`);
  yield;
  let value: Json;
  try {
    value = yield* parseInPieces(text);
  } catch {
    throw syntaxErrorOf(source, options.maxDepth);
  }
  yield;
  if (!found.inexact && (found.members <= 1 || found.members === countMembers(value)))
    return { value, exact: value, duplicates: [] };
  yield;
  return readExactly(text);
}

const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const syntaxErrorOf = (source: string | Uint8Array, depth: number | undefined): JsonSyntaxError =>
  new JsonSyntaxError(
    syntaxError(typeof source === 'string' ? Buffer.from(source) : source, depth ?? maxDepth) ?? endsEarly,
  );

interface Scan {
  /** Colons outside strings: how many members the text has, if it is JSON. */
  readonly members: number;
  /** Commas and opening brackets outside strings: how many values it has, or a few more. */
  readonly values: number;
  readonly depth: number;
  /** Something is in it that `JSON.parse` does not keep. */
  readonly inexact: boolean;
}

/** One pass over a text that may or may not be JSON. Strings are jumped over. */
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

const isDigit = (character: number): boolean => character >= code.zero && character <= code.nine;

function endOfNumber(text: string, at: number): number {
  let end = at + 1;
  for (; end < text.length; end++) {
    const character = text.charCodeAt(end);
    const numeric =
      isDigit(character) ||
      character === code.dot ||
      character === code.plus ||
      character === code.minus ||
      (character | 0x20) === 0x65;
    if (!numeric) break;
  }
  return end;
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

/** An object with these members in alphabetical order. */
export function sortedObject<T>(members: ReadonlyMap<string, T>): { readonly [member: string]: T } {
  const out: Record<string, T> = {};
  for (const name of [...members.keys()].sort()) setMember(out, name, members.get(name) as T);
  return out;
}

/** Reads a text known to be JSON, keeping what `JSON.parse` loses. */
function readExactly(text: string): ReadText {
  const duplicates = new Complaints();
  const path: string[] = [];
  let at = 0;
  let numberError: string | undefined;

  const skipSpace = (): number => {
    let character = text.charCodeAt(at);
    while (
      character === code.space ||
      character === code.newline ||
      character === code.return ||
      character === code.tab
    ) {
      character = text.charCodeAt(++at);
    }
    return character;
  };

  const readString = (): string => {
    const start = at;
    at = endOfString(text, at) + 1;
    const inside = text.slice(start + 1, at - 1);
    return inside.includes('\\')
      ? (JSON.parse(text.slice(start, at)) as string).replace(loneSurrogates, '\ufffd')
      : inside;
  };

  const readNumber = (): Pair => {
    const start = at;
    at = endOfNumber(text, at);
    const literal = text.slice(start, at);
    const whole = wholeNumber(literal);
    if (whole !== undefined) return { value: whole, exact: whole };
    const value = Number(literal);
    if (String(value) === literal && !Number.isInteger(value)) return { value, exact: value };
    if (!Number.isFinite(value)) {
      numberError ??= `json: cannot unmarshal number ${literal} into Go value of type float64`;
    }
    const exact = new NumberText(literal);
    return { value: exact.double, exact };
  };

  const readArray = (): Pair => {
    const value: Json[] = [];
    const exact: ExactJson[] = [];
    let same = true;
    at++;
    if (skipSpace() === code.closeBracket) at++;
    else {
      do {
        path.push(`[${value.length}]`);
        const item = readValue();
        path.pop();
        value.push(item.value);
        exact.push(item.exact);
        same &&= item.exact === item.value;
        skipSpace();
      } while (text.charCodeAt(at++) === code.comma);
    }
    return { value, exact: same ? value : exact };
  };

  const readObject = (): Pair => {
    const value: Record<string, Json> = {};
    const members: [string, ExactJson][] = [];
    let same = true;
    let repeated = false;
    at++;
    if (skipSpace() === code.closeBrace) at++;
    else {
      do {
        skipSpace();
        const name = readString();
        skipSpace();
        at++;
        if (Object.hasOwn(value, name)) {
          repeated = true;
          duplicates.add(() => `duplicate field ${quote(path.length ? `${path.join('')}.${name}` : name)}`);
        }
        path.push(path.length ? `.${name}` : name);
        const member = readValue();
        path.pop();
        setMember(value, name, member.value);
        members.push([name, member.exact]);
        same &&= member.exact === member.value;
        skipSpace();
      } while (text.charCodeAt(at++) === code.comma);
    }
    if (repeated) return { value, exact: new RepeatedMembers(members) };
    if (same) return { value, exact: value };
    const exact: Record<string, ExactJson> = {};
    for (const [name, member] of members) setMember(exact, name, member);
    return { value, exact };
  };

  const readValue = (): Pair => {
    const character = skipSpace();
    if (character === code.openBrace) return readObject();
    if (character === code.openBracket) return readArray();
    if (character === code.minus || isDigit(character)) return readNumber();
    if (character === code.quote) {
      const value = readString();
      return { value, exact: value };
    }
    const value = literals[text[at] as keyof typeof literals];
    at += String(value).length;
    return { value, exact: value };
  };

  const { value, exact } = readValue();
  return { value, exact, duplicates: duplicates.texts, ...(numberError === undefined ? {} : { numberError }) };
}

interface Pair {
  readonly value: Json;
  readonly exact: ExactJson;
}
const literals = { t: true, f: false, n: null } as const;
const loneSurrogates = /\p{Surrogate}/gu;

/**
 * The plain value of exact JSON: the last of repeated members, numbers that are no int64 as doubles. Parts that are
 * plain already are shared.
 */
export function plainJson(exact: ExactJson): Json {
  if (typeof exact !== 'object' || exact === null) return exact;
  if (exact instanceof NumberText) return exact.double;
  if (Array.isArray(exact)) {
    const items = (exact as readonly ExactJson[]).map(plainJson);
    return items.every((item, at) => item === exact[at]) ? (exact as readonly Json[]) : items;
  }
  if (exact instanceof RepeatedMembers) {
    const value: Record<string, Json> = {};
    for (const [name, member] of exact.members) setMember(value, name, plainJson(member));
    return value;
  }
  const members = exact as { readonly [member: string]: ExactJson };
  let changed: Record<string, Json> | undefined;
  for (const name in members) {
    const member = members[name] as ExactJson;
    const plain = plainJson(member);
    if (plain === member) continue;
    changed ??= { ...(exact as JsonObject) };
    setMember(changed, name, plain);
  }
  return changed ?? (exact as JsonObject);
}

/** What Go's scanner says of a text that is not JSON; undefined if it is. Linear, without recursion. */
export function syntaxError(bytes: Uint8Array, depthLimit: number): string | undefined {
  const open: number[] = [];
  let at = 0;
  let wrong: string | undefined;
  // At the end of the text Go looks whether a space may follow.
  const fail = (context: string): string => (wrong ??= invalidCharacter(bytes[at] ?? code.space, context));

  const literal = (name: string): void => {
    for (let i = 1; i < name.length; i++) {
      at++;
      if (bytes[at] !== name.charCodeAt(i)) return void fail(`in literal ${name} (expecting '${name[i]}')`);
    }
    at++;
  };
  const digits = (context: string): void => {
    if (!isDigit(bytes[at] ?? 0)) return void fail(context);
    while (isDigit(bytes[at] ?? 0)) at++;
  };
  const number = (): void => {
    if (bytes[at] === code.minus) at++;
    if (bytes[at] === code.zero) at++;
    else digits('in numeric literal');
    if (wrong === undefined && bytes[at] === code.dot) {
      at++;
      digits('after decimal point in numeric literal');
    }
    if (wrong === undefined && ((bytes[at] ?? 0) | 0x20) === 0x65) {
      at++;
      if (bytes[at] === code.plus || bytes[at] === code.minus) at++;
      digits('in exponent of numeric literal');
    }
  };
  const string = (): void => {
    for (at++; ; at++) {
      const byte = bytes[at];
      if (byte === undefined) {
        wrong = endsEarly;
        return;
      }
      if (byte < code.space) return void fail('in string literal');
      if (byte === code.quote) break;
      if (byte !== code.backslash) continue;
      const escaped = bytes[++at];
      if (escaped === undefined || !escapes.has(escaped)) return void fail('in string escape code');
      if (escaped !== 0x75) continue;
      for (let i = 0; i < 4; i++) {
        if (!isHex(bytes[++at])) return void fail('in \\u hexadecimal character escape');
      }
    }
    at++;
  };
  const begin = (bracket: number): void => {
    open.push(bracket);
    if (open.length > depthLimit) return void fail('exceeded max depth');
    at++;
  };
  const value = (byte: number): Expected => {
    if (byte === code.openBrace) {
      begin(byte);
      return 'first name';
    }
    if (byte === code.openBracket) {
      begin(byte);
      return 'first item';
    }
    if (byte === code.quote) string();
    else if (byte === code.minus || isDigit(byte)) number();
    else if (byte === 0x74) literal('true');
    else if (byte === 0x66) literal('false');
    else if (byte === 0x6e) literal('null');
    else fail('looking for beginning of value');
    return after();
  };
  const after = (): Expected => {
    const inside = open.at(-1);
    return inside === undefined ? 'end' : inside === code.openBrace ? 'next name' : 'next item';
  };
  const close = (): Expected => {
    open.pop();
    at++;
    return after();
  };
  const step: Readonly<Record<Expected, (byte: number) => Expected>> = {
    value,
    'first item': (byte) => (byte === code.closeBracket ? close() : value(byte)),
    'next item': (byte) => {
      if (byte === code.closeBracket) return close();
      if (byte !== code.comma) fail('after array element');
      at++;
      return 'value';
    },
    'first name': (byte) => (byte === code.closeBrace ? close() : step.name(byte)),
    name: (byte) => {
      if (byte !== code.quote) fail('looking for beginning of object key string');
      else string();
      return 'colon';
    },
    colon: (byte) => {
      if (byte !== code.colon) fail('after object key');
      at++;
      return 'value';
    },
    'next name': (byte) => {
      if (byte === code.closeBrace) return close();
      if (byte !== code.comma) fail('after object key:value pair');
      at++;
      return 'name';
    },
    end: () => {
      fail('after top-level value');
      return 'end';
    },
  };

  let expected: Expected = 'value';
  for (;;) {
    while (isSpace(bytes[at])) at++;
    const byte = bytes[at];
    if (byte === undefined) return expected === 'end' ? undefined : endsEarly;
    expected = step[expected](byte);
    if (wrong !== undefined) return wrong;
  }
}

const endsEarly = 'unexpected end of JSON input';

type Expected = 'value' | 'first item' | 'next item' | 'first name' | 'name' | 'colon' | 'next name' | 'end';
const isSpace = (byte: number | undefined): boolean =>
  byte === code.space || byte === code.newline || byte === code.return || byte === code.tab;
const isHex = (byte: number | undefined): boolean =>
  byte !== undefined && (isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66));
const escapes: ReadonlySet<number> = new Set([...'bfnrt\\/"u'].map((character) => character.charCodeAt(0)));

/** A byte is printed as the code point of its value, as Go does. */
function invalidCharacter(byte: number, context: string): string {
  const character = String.fromCharCode(byte);
  const shown = character === "'" ? "\\'" : character === '"' ? '"' : quote(character).slice(1, -1);
  return `invalid character '${shown}' ${context}`;
}

const dumpLength = 30;

/** The beginning of a body as errors show it: text if it starts with `{`, else hexadecimal; 30 bytes at the most. */
export function dumpBody(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>';
  const buffer = bufferOf(bytes);
  const head = buffer.subarray(0, dumpLength).toString(buffer[0] === code.openBrace ? 'utf8' : 'hex');
  return buffer.length > dumpLength ? `${head} ...` : head;
}
