import { itemsPerStep, type Steps } from '../api/steps.js';
import type { Expr, ListLiteral, Literal, MapLiteral, StructLiteral } from './ast.js';
import type { Issues } from './issues.js';

/** The size limit of trees, because `optMap` doubles its target. */
const mostNodes = 100_000;

/** Thrown for a tree that exceeds the limit; cel-go would run out of memory. */
export class TooManyNodes extends Error {}

/** A call that the parser expands into another expression (cel-spec, "Macros"). */
export interface Macro {
  readonly name: string;
  readonly args: number;
  /** Whether it is called on a target. */
  readonly member: boolean;
  /** Whether the expansion contains the target twice. */
  readonly copiesTarget?: boolean;
  /** Returns the expansion, an error, or undefined if the call is not one of this macro. */
  readonly expand: (call: MacroCall) => Expr | { readonly refused: string; readonly at: number } | undefined;
}

export interface MacroCall {
  readonly builder: TreeBuilder;
  readonly at: number;
  readonly target: Expr | undefined;
  /** A copy of the target, for a macro that needs one. */
  readonly copied?: Expr | undefined;
  readonly args: readonly Expr[];
}

/** Creates the nodes of a syntax tree and expands macros. */
export class TreeBuilder {
  readonly #issues: Issues;
  readonly #macros: ReadonlyMap<string, Macro>;
  #next = 1;

  constructor(issues: Issues, macros: ReadonlyMap<string, Macro>) {
    this.#issues = issues;
    this.#macros = macros;
  }

  id(): number {
    if (this.#next > mostNodes) throw new TooManyNodes(`more than ${mostNodes} nodes`);
    return this.#next++;
  }

  literal(at: number, value: Literal['value']): Expr {
    return { kind: 'literal', id: this.id(), at, value };
  }

  ident(at: number, name: string): Expr {
    return { kind: 'ident', id: this.id(), at, name };
  }

  select(at: number, operand: Expr, field: string, test = false): Expr {
    return { kind: 'select', id: this.id(), at, operand, field, test };
  }

  call(at: number, name: string, target: Expr | undefined, args: readonly Expr[]): Expr {
    return { kind: 'call', id: this.id(), at, name, target, args };
  }

  list(at: number, elements: readonly Expr[], optional: ListLiteral['optional'] = new Set()): Expr {
    return { kind: 'list', id: this.id(), at, elements, optional };
  }

  map(at: number, entries: MapLiteral['entries']): Expr {
    return { kind: 'map', id: this.id(), at, entries };
  }

  struct(at: number, name: string, fields: StructLiteral['fields']): Expr {
    return { kind: 'struct', id: this.id(), at, name, fields };
  }

  /** Returns a placeholder for a part whose error was reported. */
  broken(at: number): Expr {
    return this.literal(at, null);
  }

  /** Reports an error and returns a placeholder. */
  refuse(at: number | undefined, message: string): Expr {
    this.#issues.add(at, message);
    return this.broken(at ?? 0);
  }

  /** Returns a call, or its expansion if it is a macro. */
  *callOrMacro(at: number, name: string, target: Expr | undefined, args: readonly Expr[]): Steps<Expr> {
    const macro = this.#macros.get(macroKey(name, args.length, target !== undefined));
    const copied = macro?.copiesTarget === true && target !== undefined ? yield* this.#copy(target, at) : undefined;
    const expanded = macro?.expand({ builder: this, at, target, copied, args });
    if (expanded === undefined) return this.call(at, name, target, args);
    if ('refused' in expanded) return this.refuse(expanded.at, expanded.refused);
    return expanded;
  }

  /** Joins terms by `&&` or `||` as a balanced tree; `places` are the positions of the operators between them. */
  logic(name: string, terms: readonly Expr[], places: readonly number[]): Expr {
    const join = (from: number, to: number): Expr => {
      const middle = Math.floor((from + to + 1) / 2);
      const left = middle === from ? terms[middle]! : join(from, middle - 1);
      const right = middle === to ? terms[middle + 1]! : join(middle + 1, to);
      return this.call(places[middle]!, name, undefined, [left, right]);
    };
    return places.length === 0 ? terms[0]! : join(0, places.length - 1);
  }

  /** Copies a tree with new node ids; fields of structures then have the given position. */
  *#copy(expr: Expr, at: number): Steps<Expr> {
    const id = this.id();
    if (id % itemsPerStep === 0) yield;
    switch (expr.kind) {
      case 'literal':
      case 'ident':
        return { ...expr, id };
      case 'select':
        return { ...expr, id, operand: yield* this.#copy(expr.operand, at) };
      case 'call': {
        const args = yield* this.#copies(expr.args, at);
        return {
          ...expr,
          id,
          args,
          target: expr.target === undefined ? undefined : yield* this.#copy(expr.target, at),
        };
      }
      case 'list':
        return { ...expr, id, elements: yield* this.#copies(expr.elements, at) };
      case 'map':
        return { ...expr, id, entries: yield* this.#copiesOfEntries(expr.entries, at) };
      case 'struct':
        return { ...expr, id, fields: yield* this.#copiesOfFields(expr.fields, at) };
      case 'comprehension':
        return {
          ...expr,
          id,
          range: yield* this.#copy(expr.range, at),
          start: yield* this.#copy(expr.start, at),
          condition: yield* this.#copy(expr.condition, at),
          step: yield* this.#copy(expr.step, at),
          result: yield* this.#copy(expr.result, at),
        };
    }
  }

  *#copies(exprs: readonly Expr[], at: number): Steps<readonly Expr[]> {
    const copies: Expr[] = [];
    for (const expr of exprs) copies.push(yield* this.#copy(expr, at));
    return copies;
  }

  *#copiesOfEntries(entries: MapLiteral['entries'], at: number): Steps<MapLiteral['entries']> {
    const copies: MapLiteral['entries'][number][] = [];
    for (const entry of entries) {
      const id = this.id();
      const key = yield* this.#copy(entry.key, at);
      copies.push({ ...entry, id, key, value: yield* this.#copy(entry.value, at) });
    }
    return copies;
  }

  *#copiesOfFields(fields: StructLiteral['fields'], at: number): Steps<StructLiteral['fields']> {
    const copies: StructLiteral['fields'][number][] = [];
    for (const field of fields) {
      copies.push({ ...field, id: this.id(), at, value: yield* this.#copy(field.value, at) });
    }
    return copies;
  }
}

/** Returns the key of a macro: its name, number of arguments, and whether it has a target. */
export const macroKey = (name: string, args: number, member: boolean): string => `${name}:${args}:${member}`;
