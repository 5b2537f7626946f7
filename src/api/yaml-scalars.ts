import { scannerError } from './yaml-error.js';
import type { TextPosition } from './yaml-position.js';

/** Scans scalars: plain ones, those in quotes, and blocks. Lines are folded while they are read. */

/** The line breaks and blanks between two words of a scalar. */
class Gap {
  #blanks = '';
  /** The line breaks; undefined if there are none. */
  #breaks: string | undefined;

  /** Whether it contains a line break. */
  get breaks(): boolean {
    return this.#breaks !== undefined;
  }

  /** Begins behind a line break that does not count. */
  beginAfterBreak(): void {
    this.#breaks = '';
  }

  /** Skips blanks and line breaks. Of the lines that follow, tabs must not begin before column `indent`. */
  read(position: TextPosition, indent = 0): void {
    const { line } = position;
    const skipped = position.takeLines(blanksAndBreaks);
    if (skipped === '\n' && this.#breaks === undefined) {
      this.#breaks = ' ';
      return;
    }
    if (indent > 0 && skipped.includes('\t')) checkTabs(skipped, line, indent);
    const breaks = skipped.replace(blanks, '');
    if (this.#breaks !== undefined) this.#breaks += breaks;
    else if (breaks === '') this.#blanks += skipped;
    else this.#breaks = foldedBreaks(breaks);
  }

  /** Returns what stands for it in the value, and forgets it. */
  folded(): string {
    const text = this.#breaks ?? this.#blanks;
    this.#blanks = '';
    this.#breaks = undefined;
    return text;
  }
}

/** A single line feed becomes a space, and of several the first is left out; other breaks stay. */
const foldedBreaks = (breaks: string): string => (breaks.startsWith('\n') ? breaks.slice(1) || ' ' : breaks);

function checkTabs(skipped: string, line: number, indent: number): void {
  for (const [at, text] of skipped.split(anyBreak).entries()) {
    const tab = at === 0 ? -1 : text.indexOf('\t');
    if (tab >= 0 && tab < indent) throw scannerError('found a tab character that violates indentation', line + at);
  }
}

const blanks = /[ \t]+/g;
const anyBreak = /[\n\u2028\u2029]/;
const blanksAndBreaks = /[ \t\n\u2028\u2029]*/y;
/** Match the words of a line in quotes with the blanks between them. */
const inSingleQuotes = /(?:[^' \t\n\u2028\u2029]+|'')+(?:[ \t]+(?:[^' \t\n\u2028\u2029]+|'')+)*/y;
const inDoubleQuotes =
  /(?:[^"\\ \t\n\u2028\u2029]+|\\[^\n\u2028\u2029])+(?:[ \t]+(?:[^"\\ \t\n\u2028\u2029]+|\\[^\n\u2028\u2029])+)*/y;

const escapes: ReadonlyMap<string, string> = new Map([
  ['0', '\0'],
  ['a', '\x07'],
  ['b', '\b'],
  ['t', '\t'],
  ['\t', '\t'],
  ['n', '\n'],
  ['v', '\v'],
  ['f', '\f'],
  ['r', '\r'],
  ['e', '\x1b'],
  [' ', ' '],
  ['"', '"'],
  ["'", "'"],
  ['\\', '\\'],
  ['N', '\x85'],
  ['_', '\xa0'],
  ['L', '\u2028'],
  ['P', '\u2029'],
]);
const hexDigits: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
]);

/** Scans a text in quotes. Throws YamlError. */
export function scanQuoted(position: TextPosition, quote: '"' | "'"): string {
  const isDouble = quote === '"';
  position.skip(1);
  const pieces: string[] = [];
  const gap = new Gap();
  for (;;) {
    if (position.documentIndicator() !== undefined) throw position.error('found unexpected document indicator');
    if (position.isEnd) throw position.error('found unexpected end of stream');
    pieces.push(isDouble ? scanDouble(position) : position.take(inSingleQuotes).replaceAll("''", "'"));
    if (isDouble && position.character() === '\\') {
      if (!position.isBreak(1)) throw position.error(unknownEscape);
      position.skip(1);
      position.readBreak();
      gap.beginAfterBreak();
    }
    if (position.character() === quote) break;
    gap.read(position);
    pieces.push(gap.folded());
  }
  position.skip(1);
  return pieces.join('');
}

const unknownEscape = 'found unknown escape character';

/** Scans the words of a line in double quotes, and replaces escapes. */
function scanDouble(position: TextPosition): string {
  const words = position.take(inDoubleQuotes);
  let value = '';
  let end = 0;
  for (let at = words.indexOf('\\'); at >= 0; at = words.indexOf('\\', end)) {
    const letter = words[at + 1] ?? '';
    const digits = hexDigits.get(letter) ?? 0;
    const start = end;
    end = at + 2 + digits;
    const character = digits === 0 ? escapes.get(letter) : characterOf(position, words.slice(at + 2, end), digits);
    if (character === undefined) throw position.error(unknownEscape);
    value += words.slice(start, at) + character;
  }
  return value + words.slice(end);
}

/** Returns the character with a hexadecimal number. */
function characterOf(position: TextPosition, hex: string, digits: number): string {
  if (hex.length < digits || !/^[\da-fA-F]+$/.test(hex))
    throw position.error('did not find expected hexdecimal number');
  const number = Number.parseInt(hex, 16);
  if ((number >= 0xd800 && number <= 0xdfff) || number > 0x10ffff)
    throw position.error('found invalid Unicode character escape code');
  return String.fromCodePoint(number);
}

/** Match the words of a line up to a comment or a colon, with the blanks between them. */
const wordsInBlock = /[^: \t\n\u2028\u2029]+(?:[ \t]+[^:# \t\n\u2028\u2029][^: \t\n\u2028\u2029]*)*/y;
const wordsInFlow =
  /[^:,?[\]{} \t\n\u2028\u2029]+(?:[ \t]+[^#:,?[\]{} \t\n\u2028\u2029][^:,?[\]{} \t\n\u2028\u2029]*)*/y;

/**
 * Scans a plain scalar. `indent` is the column that its further lines must reach outside of flow collections. Returns
 * also whether it is followed by a line break. Throws YamlError.
 */
export function scanPlain(
  position: TextPosition,
  { isFlow, indent }: { readonly isFlow: boolean; readonly indent: number },
): { readonly value: string; readonly endsLine: boolean } {
  const pieces: string[] = [];
  const gap = new Gap();
  while (position.documentIndicator() === undefined && position.character() !== '#') {
    const words = scanWords(position, isFlow ? wordsInFlow : wordsInBlock);
    if (words !== '') pieces.push(gap.folded(), words);
    if (position.isEnd || !position.isBlankOrEnd()) break;
    gap.read(position, indent);
    if (!isFlow && position.column < indent) break;
  }
  return { value: pieces.join(''), endsLine: gap.breaks };
}

function scanWords(position: TextPosition, pattern: RegExp): string {
  const start = position.at;
  for (;;) {
    position.take(pattern);
    if (position.character() !== ':' || position.isBlankOrEnd(1)) return position.text.slice(start, position.at);
    position.skip(1);
  }
}

const blockHeader = /(?:[-+]\d?|\d[-+]?)?/y;

/**
 * Scans a block scalar, which begins with `|`, or with `>` if it is folded. `parentIndent` is the column of the
 * collection that contains it, -1 for none. Throws YamlError.
 */
export function scanBlockScalar(
  position: TextPosition,
  { isFolded, parentIndent }: { readonly isFolded: boolean; readonly parentIndent: number },
): string {
  position.skip(1);
  const header = position.take(blockHeader);
  if (header.includes('0')) throw position.error('found an indentation indicator equal to 0');
  position.skipBlanks();
  if (position.character() === '#') position.skipLine();
  if (!position.isEnd && !position.isBreak()) throw position.error('did not find expected comment or line break');
  position.readBreak();
  const digit = /\d/.exec(header)?.[0];
  const given = digit === undefined ? undefined : Math.max(parentIndent, 0) + Number(digit);
  let { breaks, indent } = scanIndent(position, given, parentIndent);
  const pieces: string[] = [];
  let lineBreak = '';
  let beganBlank = false;
  while (position.column === indent && !position.isEnd) {
    const beginsBlank = position.isBlank();
    const folds = isFolded && !beganBlank && !beginsBlank && lineBreak === '\n';
    pieces.push(folds ? (breaks === '' ? ' ' : '') : lineBreak, breaks);
    beganBlank = beginsBlank;
    const start = position.at;
    position.skipLine();
    pieces.push(position.text.slice(start, position.at));
    lineBreak = position.readBreak();
    ({ breaks, indent } = scanIndent(position, indent, parentIndent));
  }
  if (!header.includes('-')) pieces.push(lineBreak);
  if (header.includes('+')) pieces.push(breaks);
  return pieces.join('');
}

/**
 * Skips blank lines and the indentation of the next line. Without a known indentation it is that of the longest of
 * these lines.
 */
function scanIndent(
  position: TextPosition,
  known: number | undefined,
  parentIndent: number,
): { readonly breaks: string; readonly indent: number } {
  let breaks = '';
  let longest = 0;
  for (;;) {
    while (position.character() === ' ' && (known === undefined || position.column < known)) position.skip(1);
    longest = Math.max(longest, position.column);
    if (position.character() === '\t' && (known === undefined || position.column < known))
      throw position.error('found a tab character where an indentation space is expected');
    if (!position.isBreak()) break;
    breaks += position.readBreak();
  }
  return { breaks, indent: known ?? Math.max(longest, parentIndent + 1, 1) };
}
