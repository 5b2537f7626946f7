import type { Source } from './source.js';

/**
 * Kinds of tokens, in the order in which messages list them; those in quotes stand for their own text.
 * Grammar: cel-spec, "Syntax".
 */
export const tokenKinds = [
  'EOF',
  "'=='",
  "'!='",
  "'in'",
  "'<'",
  "'<='",
  "'>='",
  "'>'",
  "'&&'",
  "'||'",
  "'['",
  "']'",
  "'{'",
  "'}'",
  "'('",
  "')'",
  "'.'",
  "','",
  "'-'",
  "'!'",
  "'?'",
  "':'",
  "'+'",
  "'*'",
  "'/'",
  "'%'",
  "'true'",
  "'false'",
  "'null'",
  'NUM_FLOAT',
  'NUM_INT',
  'NUM_UINT',
  'STRING',
  'BYTES',
  'IDENTIFIER',
  'ESC_IDENTIFIER',
] as const;
export type TokenKind = (typeof tokenKinds)[number];

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  /** The position of its first code point. */
  readonly at: number;
  /** The position after its last code point. */
  readonly end: number;
}

/** Characters that do not begin a token. */
export interface InvalidToken {
  readonly kind: 'unreadable';
  readonly text: string;
  readonly at: number;
  /** The position where the lexer continues. */
  readonly end: number;
}

const code = (character: string): number => character.charCodeAt(0);
const isDigit = (point: number | undefined): boolean => point !== undefined && point >= 0x30 && point <= 0x39;
const isOctal = (point: number | undefined): boolean => point !== undefined && point >= 0x30 && point <= 0x37;
const isLetter = (point: number | undefined): boolean =>
  point !== undefined && ((point >= 0x41 && point <= 0x5a) || (point >= 0x61 && point <= 0x7a));
const isHexadecimal = (point: number | undefined): boolean =>
  isDigit(point) || (point !== undefined && ((point >= 0x41 && point <= 0x46) || (point >= 0x61 && point <= 0x66)));
const isNamePart = (point: number | undefined): boolean => isLetter(point) || isDigit(point) || point === code('_');
const isEscapedNamePart = (point: number | undefined): boolean =>
  isNamePart(point) || (point !== undefined && '.-/ '.includes(String.fromCharCode(point)));
const isOneOf = (point: number | undefined, characters: string): boolean =>
  point !== undefined && point < 0x80 && characters.includes(String.fromCharCode(point));

const signs: ReadonlyMap<string, TokenKind> = new Map(
  tokenKinds.filter((kind) => /^'[^a-z]+'$/.test(kind)).map((kind) => [kind.slice(1, -1), kind] as const),
);
const keywords: ReadonlyMap<string, TokenKind> = new Map([
  ['in', "'in'"],
  ['true', "'true'"],
  ['false', "'false'"],
  ['null', "'null'"],
]);

/**
 * Returns the longest token at or after a position, skipping white space and comments. Where there is none, returns the
 * invalid characters as cel-go's lexer reports them: up to and including the first one that fits no token.
 */
export function tokenAt(source: Source, from: number): Token | InvalidToken {
  let at = from;
  for (;;) {
    const point = source.point(at);
    if (isOneOf(point, ' \t\r\n\f')) at++;
    else if (point === code('/') && source.point(at + 1) === code('/')) {
      while (at < source.length && source.point(at) !== 0x0a) at++;
    } else break;
  }
  const point = source.point(at);
  if (point === undefined) return { kind: 'EOF', text: '<EOF>', at, end: at };
  const token = (kind: TokenKind, end: number): Token => ({ kind, text: source.slice(at, end), at, end });
  const unreadable = (failed: number): InvalidToken => ({
    kind: 'unreadable',
    text: source.slice(at, failed + 1),
    at,
    end: Math.min(failed + 1, source.length),
  });

  const quoted = isOneOf(point, '\'"rRbB') ? quotedAt(source, at) : undefined;
  if (quoted?.end !== undefined) return token(quoted.bytes ? 'BYTES' : 'STRING', quoted.end);
  if (isLetter(point) || point === code('_')) {
    let end = at;
    while (isNamePart(source.point(end))) end++;
    const name = token('IDENTIFIER', end);
    return { ...name, kind: keywords.get(name.text) ?? 'IDENTIFIER' };
  }
  if (quoted?.failed !== undefined) return unreadable(quoted.failed);
  if (isDigit(point) || (point === code('.') && isDigit(source.point(at + 1)))) {
    const number = numberAt(source, at);
    return token(number.kind, number.end);
  }
  if (point === code('`')) {
    let end = at + 1;
    while (isEscapedNamePart(source.point(end))) end++;
    if (end > at + 1 && source.point(end) === code('`')) return token('ESC_IDENTIFIER', end + 1);
    return unreadable(end);
  }
  const two = signs.get(source.slice(at, at + 2));
  if (two !== undefined && at + 1 < source.length) return token(two, at + 2);
  const one = signs.get(source.slice(at, at + 1));
  if (one !== undefined) return token(one, at + 1);
  return unreadable(isOneOf(point, '=&|') ? at + 1 : at);
}

function numberAt(source: Source, at: number): { readonly kind: TokenKind; readonly end: number } {
  const digits = (from: number): number => {
    let end = from;
    while (isDigit(source.point(end))) end++;
    return end;
  };
  if (source.point(at) === code('0') && source.point(at + 1) === code('x') && isHexadecimal(source.point(at + 2))) {
    let end = at + 2;
    while (isHexadecimal(source.point(end))) end++;
    return isOneOf(source.point(end), 'uU') ? { kind: 'NUM_UINT', end: end + 1 } : { kind: 'NUM_INT', end };
  }
  const integer = digits(at);
  const fraction =
    source.point(integer) === code('.') && isDigit(source.point(integer + 1)) ? digits(integer + 1) : integer;
  let exponent = fraction;
  if (isOneOf(source.point(fraction), 'eE')) {
    const start = isOneOf(source.point(fraction + 1), '+-') ? fraction + 2 : fraction + 1;
    if (isDigit(source.point(start))) exponent = digits(start);
  }
  if (exponent > integer) return { kind: 'NUM_FLOAT', end: exponent };
  return isOneOf(source.point(integer), 'uU')
    ? { kind: 'NUM_UINT', end: integer + 1 }
    : { kind: 'NUM_INT', end: integer };
}

interface Quoted {
  readonly bytes: boolean;
  /** The position after the closing quote; undefined if there is none. */
  readonly end?: number;
  /** The first position that does not fit; undefined if the text does not begin like a quoted one. */
  readonly failed?: number;
}

/** Reads a text or bytes in quotes, on one line or (in triple quotes) several, raw or with escapes. */
function quotedAt(source: Source, at: number): Quoted {
  let start = at;
  const bytes = isOneOf(source.point(start), 'bB');
  if (bytes) start++;
  const raw = isOneOf(source.point(start), 'rR');
  if (raw) start++;
  const quote = source.point(start);
  if (!isOneOf(quote, '"\'')) return { bytes };
  const isQuote = (place: number): boolean => source.point(place) === quote;

  if (isQuote(start + 1) && isQuote(start + 2)) {
    let place: number | undefined = start + 3;
    while (place !== undefined && place < source.length) {
      if (isQuote(place) && isQuote(place + 1) && isQuote(place + 2)) return { bytes, end: place + 3 };
      place = !raw && source.point(place) === code('\\') ? escapeAt(source, place).end : place + 1;
    }
    // Without closing quotes, it is read as an empty text, followed by the rest.
    return { bytes, end: start + 2 };
  }

  let place = start + 1;
  for (;;) {
    const point = source.point(place);
    if (point === undefined || point === 0x0a || point === 0x0d) return { bytes, failed: place };
    if (point === quote) return { bytes, end: place + 1 };
    if (!raw && point === code('\\')) {
      const read = escapeAt(source, place);
      if (read.end === undefined) return { bytes, failed: read.failed };
      place = read.end;
    } else place++;
  }
}

type Escape = { readonly end: number } | { readonly end?: undefined; readonly failed: number };

function escapeAt(source: Source, at: number): Escape {
  const digits = (from: number, count: number, fits: (point: number | undefined) => boolean): Escape => {
    for (let place = from; place < from + count; place++) {
      if (!fits(source.point(place))) return { failed: place };
    }
    return { end: from + count };
  };
  const kind = source.point(at + 1);
  if (isOneOf(kind, 'abfnrtv"\'\\?`')) return { end: at + 2 };
  if (isOneOf(kind, 'xX')) return digits(at + 2, 2, isHexadecimal);
  if (isOneOf(kind, 'u')) return digits(at + 2, 4, isHexadecimal);
  if (isOneOf(kind, 'U')) return digits(at + 2, 8, isHexadecimal);
  if (isOneOf(kind, '0123')) return digits(at + 2, 2, isOctal);
  return { failed: at + 1 };
}
