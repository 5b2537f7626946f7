import type { Uint } from './values.js';

/**
 * Syntax trees of expressions (Common Expression Language, cel-spec `syntax.proto`), with macros expanded. Every node
 * has an id that is unique within its tree, and its position in code points.
 */
export type Expr = Literal | Ident | Select | Call | ListLiteral | MapLiteral | StructLiteral | Comprehension;

interface Node {
  readonly id: number;
  readonly at: number;
}

export interface Literal extends Node {
  readonly kind: 'literal';
  readonly value: null | boolean | bigint | Uint | number | string | Uint8Array;
}

/** A name: a variable, or the first part of a dotted name. It may begin with a dot. */
interface Ident extends Node {
  readonly kind: 'ident';
  readonly name: string;
}

/** A field selection `operand.field`, or the presence test `has(operand.field)`. */
export interface Select extends Node {
  readonly kind: 'select';
  readonly operand: Expr;
  readonly field: string;
  readonly test: boolean;
}

/**
 * `target.name(args)`, `name(args)`, or an operator by its internal name: `_+_`, `_&&_`, `_?_:_`, `!_`, `-_`, `_[_]`,
 * `@in`, `_?._`, `_[?_]` and so on, as cel-spec names them.
 */
export interface Call extends Node {
  readonly kind: 'call';
  readonly name: string;
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
}

export interface ListLiteral extends Node {
  readonly kind: 'list';
  readonly elements: readonly Expr[];
  /** The indexes of the elements marked `?`, which are left out when their optional has no value. */
  readonly optional: ReadonlySet<number>;
}

export interface MapLiteral extends Node {
  readonly kind: 'map';
  readonly entries: readonly {
    readonly id: number;
    readonly key: Expr;
    readonly value: Expr;
    readonly optional: boolean;
  }[];
}

/** `Name{field: value}`. */
export interface StructLiteral extends Node {
  readonly kind: 'struct';
  readonly name: string;
  readonly fields: readonly {
    readonly id: number;
    readonly at: number;
    readonly name: string;
    readonly value: Expr;
    readonly optional: boolean;
  }[];
}

/** A fold, the expansion of `all`, `exists`, `map`, `filter` and similar macros. */
export interface Comprehension extends Node {
  readonly kind: 'comprehension';
  readonly range: Expr;
  /** The variable for the element of a list or key of a map; for the index or key if there is a second variable. */
  readonly variable: string;
  /** The variable for the element of a list or value of a map. */
  readonly second: string | undefined;
  readonly accumulator: string;
  readonly start: Expr;
  /** The condition under which the loop continues. */
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}
