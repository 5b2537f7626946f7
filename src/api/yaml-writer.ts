import { goJson } from './go-text.js';
import type { Json, JsonObject } from './object.js';
import { itemsPerStep, runSync, type Steps } from './steps.js';
import { hasSurrogates } from './text-order.js';
import { goFloat, resolveScalar } from './yaml-scalar.js';

/**
 * Formats JSON as the YAML in responses of Kubernetes: block style, two spaces, lists not indented, members sorted,
 * long text folded after column 80, quotes only where a reader would misinterpret the text.
 */
export const writeYaml = (value: Json): string => runSync(writeYamlInSteps(value));

/** Like `writeYaml`, in steps for values of any size. */
export function* writeYamlInSteps(value: Json): Steps<string> {
  const lines: string[] = [];
  if (isNested(value)) yield* block(value, 0, lines);
  else lines.push(...scalar('', value, step));
  yield;
  return `${lines.join('\n')}\n`;
}

const step = 2;
const width = 80;
/** The maximum length of a simple key; longer names follow a `?`. */
const longestName = 128;
/** Matches line breaks; names with one follow a `?` too. */
const lineBreak = /[\n\r\x85\u2028\u2029]/;

type Nested = JsonObject | readonly Json[];
const isNested = (value: Json): value is Nested =>
  typeof value === 'object' && value !== null && (Array.isArray(value) ? value.length : Object.keys(value).length) > 0;
const isList = (value: Nested): value is readonly Json[] => Array.isArray(value);

/** Appends the lines of a non-empty list or object; its first line continues `beginning`. */
function* block(value: Nested, indent: number, lines: string[], beginning?: string): Steps<void> {
  const pad = ' '.repeat(indent);
  let head = beginning === undefined ? pad : `${beginning} `;
  let count = 0;
  if (isList(value)) {
    for (const item of value) {
      yield* writeAfterIndicator(`${head}-`, item, indent, lines);
      head = pad;
      if (++count % itemsPerStep === 0) yield;
    }
    return;
  }
  for (const name of yield* sortedInSteps(Object.keys(value), compareNames)) {
    const member = value[name] as Json;
    if (lineBreak.test(name) || Buffer.byteLength(name) > longestName) {
      yield* writeAfterIndicator(`${head}?`, name, indent, lines);
      yield* writeAfterIndicator(`${pad}:`, member, indent, lines);
    } else {
      const named = `${head}${flow('', name, { style: nameStyle(name) })[0]}:`;
      if (isNested(member)) {
        lines.push(named);
        yield* block(member, isList(member) ? indent : indent + step, lines);
      } else addAll(lines, scalar(named, member, indent + step));
    }
    head = pad;
    if (++count % itemsPerStep === 0) yield;
  }
}

/** Appends a value after a `-`, `?` or `:`. */
function* writeAfterIndicator(head: string, inner: Json, indent: number, lines: string[]): Steps<void> {
  if (isNested(inner)) yield* block(inner, indent + step, lines, head);
  else addAll(lines, scalar(head, inner, indent + step));
}

/** Appends lines one by one, because there may be more of them than a call can have arguments. */
function addAll(lines: string[], more: readonly string[]): void {
  for (const line of more) lines.push(line);
}

/** Sorts many texts: sorts runs of them, then merges these in pairs. */
function* sortedInSteps(texts: string[], compare: (a: string, b: string) => number): Steps<readonly string[]> {
  if (texts.length <= itemsPerStep) return texts.sort(compare);
  let runs: string[][] = [];
  for (let at = 0; at < texts.length; at += itemsPerStep) {
    runs.push(texts.slice(at, at + itemsPerStep).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: string[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      merged.push(yield* mergedInSteps(runs[at] ?? [], runs[at + 1] ?? [], compare));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* mergedInSteps(left: string[], right: string[], compare: (a: string, b: string) => number): Steps<string[]> {
  const merged: string[] = [];
  let [l, r] = [0, 0];
  while (l < left.length && r < right.length) {
    const [a, b] = [left[l] as string, right[r] as string];
    if (compare(a, b) <= 0) {
      merged.push(a);
      l++;
    } else {
      merged.push(b);
      r++;
    }
    if (merged.length % itemsPerStep === 0) yield;
  }
  return merged.concat(left.slice(l), right.slice(r));
}

/** Returns the lines of a scalar or an empty collection after `head`; further lines are indented. */
function scalar(head: string, value: Json, indent: number): readonly string[] {
  const lead = head === '' ? '' : `${head} `;
  if (typeof value === 'string') {
    const style = styleOf(value);
    return style === 'literal' ? literal(lead, value, indent) : flow(lead, value, { style, indent });
  }
  if (typeof value === 'number') return [lead + (Number.isInteger(value) ? wholeNumber(value) : goFloat(value))];
  return [lead + goJson(value)];
}

const wholeNumber = (value: number): string => (Math.abs(value) < 2 ** 64 ? String(value) : goFloat(value));

function literal(lead: string, text: string, indent: number): readonly string[] {
  const hint = text.startsWith(' ') || text.startsWith('\n') ? String(step) : '';
  const chomp = !text.endsWith('\n') ? '-' : text === '\n' || text.endsWith('\n\n') ? '+' : '';
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const pad = ' '.repeat(indent);
  return [`${lead}|${hint}${chomp}`, ...lines.map((line) => (line === '' ? '' : pad + line))];
}

type Style = 'plain' | 'single' | 'double' | 'literal';
type FlowStyle = Exclude<Style, 'literal'>;

const quotes: Readonly<Record<FlowStyle, string>> = { plain: '', single: "'", double: '"' };
const characterEncoders: Readonly<Record<FlowStyle, (character: string) => string>> = {
  plain: (character) => character,
  single: (character) => (character === "'" ? "''" : character),
  double: (character) => (needsEscape.test(character) ? escaped(character) : character),
};

/** Encodes a whole text that stays on one line, which may be long. */
const textEncoders: Readonly<Record<FlowStyle, (text: string) => string>> = {
  plain: (text) => text,
  single: (text) => text.replaceAll("'", "''"),
  double: (text) => text.replace(everyEscape, escaped),
};

/** Formats text in plain or quoted style, folded at single spaces beyond the width if `indent` is given. */
function flow(
  lead: string,
  text: string,
  { style, indent }: { readonly style: FlowStyle; readonly indent?: number },
): readonly [string, ...string[]] {
  const mayBreak = indent !== undefined && lead.length + text.length >= width && text.includes(' ');
  if (!mayBreak) return [`${lead}${quotes[style]}${textEncoders[style](text)}${quotes[style]}`];
  const lines: string[] = [];
  const write = characterEncoders[style];
  let line = lead + quotes[style];
  let column = [...line].length;
  let afterBlank = false;
  const characters = [...text];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] as string;
    const inside = style === 'plain' || (at > 0 && at < characters.length - 1);
    const beforeBlank = characters[at + 1] === ' ';
    const breakable = indent !== undefined && inside && !afterBlank && (style === 'double' || !beforeBlank);
    if (character === ' ' && breakable && column > width) {
      lines.push(line);
      line = ' '.repeat(indent) + (beforeBlank ? '\\' : '');
      column = line.length;
    } else {
      const piece = write(character);
      line += piece;
      column += piece.length > 2 ? piece.length : [...piece].length;
    }
    afterBlank = character === ' ';
  }
  const [first, ...rest] = [...lines, line + quotes[style]];
  return [first as string, ...rest];
}

/**
 * Matches characters that the writer of Go regards as not printable: control characters, byte order marks, everything
 * beyond 16 bits.
 */
const unprintable = /[^\x20-\x7e\n\u00a0-\ud7ff\ue000-\ufffd]|\ufeff/u;
const lineSeparators = /[\u2028\u2029]/;
const needsEscape = /[^\x20-\x7e\u00a0-\ud7ff\ue000-\ufffd]|[\ufeff\u2028\u2029"\\]/u;
const everyEscape = new RegExp(needsEscape, 'gu');
const indicators = /^(?:---|\.\.\.|[#,[\]{}&*!|>'"%@`]|[-?:](?:[ \t]|$))|:(?:[ \t]|$)|[ \t\n]#/;
const base60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;

function styleOf(text: string): Style {
  const special = unprintable.test(text) || lineSeparators.test(text);
  if (text.includes('\n')) return special || text.endsWith(' ') || text.includes(' \n') ? 'double' : 'literal';
  if (special || resolveScalar(text).kind !== 'text' || base60.test(text)) return 'double';
  return text.startsWith(' ') || text.endsWith(' ') || indicators.test(text) ? 'single' : 'plain';
}

function nameStyle(name: string): FlowStyle {
  // Unquoted, it would be read as a merge key.
  if (name === '<<') return 'double';
  const style = styleOf(name);
  return style === 'literal' ? 'double' : style;
}

const shortEscapes: Readonly<Record<string, string>> = {
  '\0': '\\0',
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '\x1b': '\\e',
  '"': '\\"',
  '\\': '\\\\',
  '\x85': '\\N',
  '\u2028': '\\L',
  '\u2029': '\\P',
};

function escaped(character: string): string {
  const short = shortEscapes[character];
  if (short !== undefined) return short;
  const code = character.codePointAt(0) ?? 0;
  const [letter, digits] = code <= 0xff ? ['x', 2] : code <= 0xffff ? ['u', 4] : (['U', 8] as const);
  return `\\${letter}${code.toString(16).toUpperCase().padStart(digits, '0')}`;
}

const isLetter = (character: string): boolean => /\p{L}/u.test(character);
const isDigit = (character: string | undefined): boolean => character !== undefined && /\p{Nd}/u.test(character);

/** Compares names in the order of go-yaml: letters after all other characters, runs of digits by their value. */
function compareNames(left: string, right: string): number {
  const shorter = Math.min(left.length, right.length);
  let at = 0;
  while (at < shorter && left.charCodeAt(at) === right.charCodeAt(at)) at++;
  // Characters of two units may differ only in the second one.
  if (isHighSurrogate(left.charCodeAt(at - 1)) && [left, right].some((text) => isLowSurrogate(text.charCodeAt(at))))
    at--;
  if (at === shorter) return left.length - right.length;
  const [x, y] = [left.codePointAt(at) ?? 0, right.codePointAt(at) ?? 0];
  return compareAt(left, right, at, String.fromCodePoint(x), String.fromCodePoint(y));
}
const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

function compareAt(a: string, b: string, at: number, x: string, y: string): number {
  const letters = [isLetter(x), isLetter(y)];
  const byCode = (x.codePointAt(0) ?? 0) - (y.codePointAt(0) ?? 0);
  if (letters[0] && letters[1]) return byCode;
  if (letters[0] || letters[1]) return letters[1] ? -1 : 1;
  const lead = (x === '0' || y === '0') && followsNumber(a, at) ? 1n : 0n;
  const [m, n] = [numberAt(a, at, lead), numberAt(b, at, lead)];
  if (m !== n) return m < n ? -1 : 1;
  return digitsAt(a, at) - digitsAt(b, at) || byCode;
}

/** Whether the digits right before `at` include one other than zero. */
function followsNumber(text: string, at: number): boolean {
  for (let end = at; end > 0; ) {
    const isPair = isLowSurrogate(text.charCodeAt(end - 1)) && isHighSurrogate(text.charCodeAt(end - 2));
    const digit = text.slice(isPair ? end - 2 : end - 1, end);
    if (!isDigit(digit)) return false;
    if (digit !== '0') return true;
    end -= digit.length;
  }
  return false;
}

/** The maximum number of digits that are read as one number; more than 64 bits can hold. */
const maxDigits = 40;
const firstDigits = new RegExp(`\\p{Nd}{0,${maxDigits}}`, 'uy');
const allDigits = /\p{Nd}*/uy;

/**
 * Returns the number at an offset. Reads a limited number of digits, because each name is compared with many others.
 */
function numberAt(text: string, at: number, lead: bigint): bigint {
  firstDigits.lastIndex = at;
  const [digits = ''] = firstDigits.exec(text) ?? [];
  return BigInt(`${lead}${/^\d*$/.test(digits) ? digits : 0}`);
}

/** Returns the number of digits at an offset; needed only where the values are equal. */
function digitsAt(text: string, at: number): number {
  allDigits.lastIndex = at;
  const [run = ''] = allDigits.exec(text) ?? [];
  return hasSurrogates(run) ? [...run].length : run.length;
}
