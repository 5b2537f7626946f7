import type { TokenKind } from './lexer.js';

interface Operator {
  /** Its function. */
  readonly name: string;
  /** Of sums 1, of products 2; comparisons come after both. */
  readonly precedence: 'relation' | 1 | 2;
}

/** Operators between two values, but for `&&` and `||`. */
export const operators: ReadonlyMap<TokenKind, Operator> = new Map<TokenKind, Operator>([
  ["'<'", { name: '_<_', precedence: 'relation' }],
  ["'<='", { name: '_<=_', precedence: 'relation' }],
  ["'>='", { name: '_>=_', precedence: 'relation' }],
  ["'>'", { name: '_>_', precedence: 'relation' }],
  ["'=='", { name: '_==_', precedence: 'relation' }],
  ["'!='", { name: '_!=_', precedence: 'relation' }],
  ["'in'", { name: '@in', precedence: 'relation' }],
  ["'+'", { name: '_+_', precedence: 1 }],
  ["'-'", { name: '_-_', precedence: 1 }],
  ["'*'", { name: '_*_', precedence: 2 }],
  ["'/'", { name: '_/_', precedence: 2 }],
  ["'%'", { name: '_%_', precedence: 2 }],
]);
