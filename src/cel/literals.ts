import { maxInt64, maxUint64, minInt64 } from '../api/go-integers.js';
import type { Literal } from './ast.js';
import type { Token } from './lexer.js';
import { Uint } from './values.js';

/** The value of a literal, or its error. */
export type LiteralResult<T> =
  | { readonly value: T; readonly refused?: undefined }
  | { readonly refused: string; readonly value?: undefined };

/** Removes leading zeros, without which no number of 64 bits has more digits than the limit. */
const significant = (digits: string): string => digits.replace(/^(0x)?0+(?=[0-9a-f])/i, '$1');

/** Returns the value of a token that is a literal, including the sign before it. */
export function readLiteral({ kind, text }: Token, negative: boolean): LiteralResult<Literal['value']> {
  switch (kind) {
    case 'NUM_INT': {
      const value = readInteger(text, negative);
      return value === undefined || value < minInt64 || value > maxInt64
        ? { refused: 'invalid int literal' }
        : { value };
    }
    case 'NUM_UINT': {
      const value = readInteger(text.slice(0, -1), false);
      return value === undefined || value > maxUint64
        ? { refused: 'invalid uint literal' }
        : { value: new Uint(value) };
    }
    case 'NUM_FLOAT': {
      const value = Number(text);
      return Number.isFinite(value) ? { value: negative ? -value : value } : { refused: 'invalid double literal' };
    }
    case 'STRING':
      return readQuoted(text, false, (points) => points.join(''));
    case 'BYTES':
      return readQuoted(text.slice(1), true, (points) =>
        Buffer.concat(points.map((point) => (typeof point === 'number' ? Buffer.of(point) : Buffer.from(point)))),
      );
    case "'true'":
      return { value: true };
    case "'false'":
      return { value: false };
    default:
      return { value: null };
  }
}

function readInteger(text: string, negative: boolean): bigint | undefined {
  const digits = significant(text);
  if (digits.length > 20) return undefined;
  const value = BigInt(digits);
  return negative ? -value : value;
}

const simpleEscapes: ReadonlyMap<string, string> = new Map(
  Object.entries({ a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }),
);
const parts = /\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))|[^\\]+/gs;

/**
 * Returns the text in quotes with escapes decoded. In bytes a numeric escape is one byte, passed on as a number;
 * elsewhere it is a code point.
 */
function readQuoted<T>(
  quoted: string,
  bytes: boolean,
  join: (points: readonly (string | number)[]) => T,
): LiteralResult<T> {
  const text = quoted.replace(/\r\n?/g, '\n');
  const raw = /^r/i.test(text);
  const opened = raw ? text.slice(1) : text;
  const width = opened.length >= 6 && (opened.startsWith("'''") || opened.startsWith('"""')) ? 3 : 1;
  const inner = opened.slice(width, -width);
  if (raw || !inner.includes('\\')) return { value: join([inner]) };

  const points: (string | number)[] = [];
  for (const [part, x, short, long, octal, letter] of inner.matchAll(parts)) {
    if (letter !== undefined) points.push(simpleEscapes.get(letter) ?? letter);
    else if (!part.startsWith('\\')) points.push(part);
    else if (bytes && (short ?? long) !== undefined) return { refused: 'unable to unescape string' };
    else {
      const point = octal === undefined ? Number.parseInt(x ?? short ?? long ?? '', 16) : Number.parseInt(octal, 8);
      if (bytes) points.push(point);
      else if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
        return { refused: 'invalid unicode code point' };
      else points.push(String.fromCodePoint(point));
    }
  }
  return { value: join(points) };
}
