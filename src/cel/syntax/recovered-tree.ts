import { itemsPerStep, type Steps } from '../../api/steps.js';
import type { Expr, MapLiteral, StructLiteral } from '../ast.js';
import type { Token } from '../lexer.js';
import { readLiteral } from '../literals.js';
import { operators } from '../operators.js';
import { isReserved } from '../reserved.js';
import type { TreeBuilder } from '../tree-builder.js';
import { maxNesting, type ParseNode, ParserLimitExceeded } from './recovering-parser.js';

/** The position of issues about missing parts, which have none in the text. */
const nowhere = -1;
/** Rules that only pass on their single child if they have no operator. */
const transparent: ReadonlySet<string> = new Set([
  'start',
  'expr',
  'conditionalOr',
  'conditionalAnd',
  'relation',
  'calc',
  'memberExpr',
  'primaryExpr',
  'nested',
  'constantLiteral',
]);

/** Builds the syntax tree of a parse tree with errors, and reports further errors in its parts, as cel-go does. */
export class RecoveredTreeBuilder {
  readonly #builder: TreeBuilder;
  readonly #issueCount: () => number;
  #depth = 0;
  #seen = 0;

  constructor(builder: TreeBuilder, issueCount: () => number) {
    this.#builder = builder;
    this.#issueCount = issueCount;
  }

  *expr(node: ParseNode | undefined): Steps<Expr> {
    if (++this.#seen % itemsPerStep === 0) yield;
    const at = node === undefined ? undefined : this.#unnested(node);
    switch (at?.name) {
      case 'expr':
        return yield* this.#nested(this.#conditional(at));
      case 'conditionalOr':
        return yield* this.#logic(at, '_||_');
      case 'conditionalAnd':
        return yield* this.#logic(at, '_&&_');
      case 'relation':
      case 'calc':
        return yield* this.#nested(this.#binary(at));
      case 'logicalNot':
        return yield* this.#signed(at, '!_');
      case 'negate':
        return yield* this.#signed(at, '-_');
      case 'select':
        return yield* this.#nested(this.#select(at));
      case 'memberCall':
        return yield* this.#nested(this.#memberCall(at));
      case 'index':
        return yield* this.#nested(this.#index(at));
      case 'ident':
      case 'globalCall':
        return yield* this.#name(at);
      case 'createList':
        return yield* this.#list(at);
      case 'createMap':
        return this.#builder.map(placeOf(at, 'op'), yield* this.#entries(part(at, 'entries')));
      case 'createMessage':
        return yield* this.#message(at);
      case 'literal':
        return this.#literal(at);
      default:
        return this.#unknown();
    }
  }

  #unnested(node: ParseNode): ParseNode | undefined {
    let at: ParseNode | undefined = node;
    while (
      at !== undefined &&
      transparent.has(at.name) &&
      token(at, 'op') === undefined &&
      token(at, 'ops') === undefined
    ) {
      at = part(at, 'only') ?? part(at, 'e');
    }
    return at;
  }

  *#nested(visit: Steps<Expr>): Steps<Expr> {
    if (++this.#depth > maxNesting) throw new ParserLimitExceeded('max recursion depth exceeded');
    const expr = yield* visit;
    this.#depth--;
    return expr;
  }

  /**
   * Returns a placeholder for a node without an alternative; its error was reported already, unless there was none at
   * all.
   */
  #unknown(): Expr {
    if (this.#issueCount() === 0) return this.#builder.refuse(undefined, 'unknown parse element encountered: <<nil>>');
    return this.#builder.broken(nowhere);
  }

  *#conditional(node: ParseNode): Steps<Expr> {
    const condition = yield* this.expr(part(node, 'e'));
    const args = [condition, yield* this.expr(part(node, 'e1')), yield* this.expr(part(node, 'e2'))];
    return this.#builder.call(placeOf(node, 'op'), '_?_:_', undefined, args);
  }

  *#logic(node: ParseNode, name: string): Steps<Expr> {
    const terms = yield* this.#all([...partsOf(node, 'e'), ...partsOf(node, 'e1')]);
    const places = tokensOf(node, 'ops').map(({ at }) => at);
    return this.#builder.logic(name, terms, places);
  }

  *#binary(node: ParseNode): Steps<Expr> {
    const operator = operators.get(token(node, 'op')?.kind ?? 'EOF');
    if (operator === undefined) return this.#builder.refuse(node.start.at, 'operator not found');
    const args = [yield* this.expr(part(node, 'left')), yield* this.expr(part(node, 'right'))];
    return this.#builder.call(placeOf(node, 'op'), operator.name, undefined, args);
  }

  *#signed(node: ParseNode, name: string): Steps<Expr> {
    const signs = tokensOf(node, 'ops');
    const member = yield* this.expr(part(node, 'member'));
    if (signs.length % 2 === 0) return member;
    return this.#builder.call(signs[0]?.at ?? node.start.at, name, undefined, [member]);
  }

  *#select(node: ParseNode): Steps<Expr> {
    const operand = yield* this.expr(part(node, 'left'));
    const id = part(node, 'id');
    if (id === undefined || token(node, 'op') === undefined) return this.#builder.broken(node.start.at);
    const { name, refused } = identifierOf(id);
    if (refused !== undefined) this.#builder.refuse(id.start.at, refused);
    const at = placeOf(node, 'op');
    if (token(node, 'opt') === undefined) return this.#builder.select(at, operand, name);
    return this.#builder.call(at, '_?._', undefined, [operand, this.#builder.literal(id.start.at, name)]);
  }

  *#memberCall(node: ParseNode): Steps<Expr> {
    const operand = yield* this.expr(part(node, 'left'));
    const id = token(node, 'id');
    if (id === undefined) return this.#builder.broken(node.start.at);
    const args = yield* this.#arguments(part(node, 'args'));
    return yield* this.#builder.callOrMacro(placeOf(node, 'open'), id.text, operand, args);
  }

  *#index(node: ParseNode): Steps<Expr> {
    const operand = yield* this.expr(part(node, 'left'));
    if (token(node, 'op') === undefined) return this.#builder.broken(node.start.at);
    const index = yield* this.expr(part(node, 'index'));
    const name = token(node, 'opt') === undefined ? '_[_]' : '_[?_]';
    return this.#builder.call(placeOf(node, 'op'), name, undefined, [operand, index]);
  }

  *#name(node: ParseNode): Steps<Expr> {
    const id = token(node, 'id');
    if (id === undefined) return this.#builder.broken(node.start.at);
    if (isReserved(id.text)) return this.#builder.refuse(node.start.at, `reserved identifier: ${id.text}`);
    const name = `${token(node, 'leadingDot') === undefined ? '' : '.'}${id.text}`;
    if (node.name === 'ident') return this.#builder.ident(id.at, name);
    const args = yield* this.#arguments(part(node, 'args'));
    return yield* this.#builder.callOrMacro(placeOf(node, 'op'), name, undefined, args);
  }

  #arguments(node: ParseNode | undefined): Steps<readonly Expr[]> {
    return this.#all(partsOf(node, 'e'));
  }

  *#all(parts: readonly (ParseNode | undefined)[]): Steps<readonly Expr[]> {
    const exprs: Expr[] = [];
    for (const part of parts) exprs.push(yield* this.expr(part));
    return exprs;
  }

  *#list(node: ParseNode): Steps<Expr> {
    const optional = new Set<number>();
    const parts = partsOf(part(node, 'elems'), 'elems');
    for (const [index, element] of parts.entries()) if (token(element, 'opt') !== undefined) optional.add(index);
    const elements = yield* this.#all(parts.map((element) => part(element, 'e')));
    return this.#builder.list(placeOf(node, 'op'), elements, optional);
  }

  *#entries(node: ParseNode | undefined): Steps<MapLiteral['entries']> {
    const keys = partsOf(node, 'keys');
    const values = partsOf(node, 'values');
    const entries: MapLiteral['entries'][number][] = [];
    for (const [index] of tokensOf(node, 'cols').entries()) {
      const key = keys[index];
      const value = values[index];
      if (key === undefined || value === undefined) return [];
      entries.push({
        id: this.#builder.id(),
        key: yield* this.expr(part(key, 'e')),
        value: yield* this.expr(value),
        optional: token(key, 'opt') !== undefined,
      });
    }
    return entries;
  }

  *#message(node: ParseNode): Steps<Expr> {
    const names = tokensOf(node, 'ids').map(({ text }) => text);
    const name = `${token(node, 'leadingDot') === undefined ? '' : '.'}${names.join('.')}`;
    return this.#builder.struct(placeOf(node, 'op'), name, yield* this.#fields(part(node, 'entries')));
  }

  *#fields(node: ParseNode | undefined): Steps<StructLiteral['fields']> {
    const values = partsOf(node, 'values');
    const colons = tokensOf(node, 'cols');
    const fields: StructLiteral['fields'][number][] = [];
    for (const [index, key] of partsOf(node, 'keys').entries()) {
      const value = values[index];
      const colon = colons[index];
      if (node === undefined || value === undefined || colon === undefined) return [];
      const { name, refused } = identifierOf(part(key, 'id'));
      if (refused !== undefined) {
        this.#builder.refuse(node.start.at, refused);
        continue;
      }
      const optional = token(key, 'opt') !== undefined;
      fields.push({ id: this.#builder.id(), at: colon.at, name, value: yield* this.expr(value), optional });
    }
    return fields;
  }

  #literal(node: ParseNode): Expr {
    const literal = token(node, 'tok');
    if (literal === undefined) return this.#unknown();
    const sign = token(node, 'sign');
    const read = readLiteral(literal, sign !== undefined);
    const { at } = node.start;
    return read.refused === undefined ? this.#builder.literal(at, read.value) : this.#builder.refuse(at, read.refused);
  }
}

const partsOf = (node: ParseNode | undefined, label: string): readonly ParseNode[] =>
  (node?.children ?? []).filter(([name]) => name === label).map(([, part]) => part);
const tokensOf = (node: ParseNode | undefined, label: string): readonly Token[] =>
  (node?.tokens ?? []).filter(([name]) => name === label).map(([, token]) => token);
const part = (node: ParseNode, label: string): ParseNode | undefined =>
  node.children.find(([name]) => name === label)?.[1];
const token = (node: ParseNode, label: string): Token | undefined => node.tokens.find(([name]) => name === label)?.[1];
const placeOf = (node: ParseNode, label: string): number => token(node, label)?.at ?? node.start.at;

/** Returns the name of a field. */
function identifierOf(node: ParseNode | undefined): { readonly name: string; readonly refused?: string } {
  const id = node === undefined ? undefined : token(node, 'id');
  if (id === undefined) return { name: '', refused: 'unsupported ident kind' };
  return { name: node?.name === 'escapedIdentifier' ? withoutBackticks(id.text) : id.text };
}

/** Returns the name in an identifier quoted by backticks. */
export const withoutBackticks = (text: string): string => text.slice(1, -1);
