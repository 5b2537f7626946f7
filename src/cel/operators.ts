import type { TokenKind } from './lexer.js';

interface Operator {
  /** The name of its function. */
  readonly name: string;
  /** 1 for sums, 2 for products; comparisons bind less tightly than both. */
  readonly precedence: 'relation' | 1 | 2;
}

/** The binary operators, except `&&` and `||`. */
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
