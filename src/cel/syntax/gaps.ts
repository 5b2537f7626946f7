import { itemsInStep, type Steps } from '../../api/steps.js';
import type { Expr, MapLiteral, StructLiteral } from '../ast.js';
import type { Token } from '../lexer.js';
import { readLiteral } from '../literals.js';
import { operators } from '../operators.js';
import { isReserved } from '../reserved.js';
import type { Trees } from '../trees.js';
import { type Found, Hopeless, mostNested } from './machine.js';

/** Issues about what was not found stand before the text. */
const nowhere = -1;
/** Rules that only lead on to one part when nothing else was found of them. */
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

/** Makes a tree of what was found of a text with gaps, telling what is wrong with the parts as well. */
export class TreeOfGaps {
  readonly #trees: Trees;
  readonly #told: () => number;
  #depth = 0;
  #seen = 0;

  /** `told`: how many issues there are. */
  constructor(trees: Trees, told: () => number) {
    this.#trees = trees;
    this.#told = told;
  }

  *expr(found: Found | undefined): Steps<Expr> {
    if (++this.#seen % itemsInStep === 0) yield;
    const at = found === undefined ? undefined : this.#unnested(found);
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
        return this.#trees.map(placeOf(at, 'op'), yield* this.#entries(part(at, 'entries')));
      case 'createMessage':
        return yield* this.#message(at);
      case 'literal':
        return this.#literal(at);
      default:
        return this.#unknown();
    }
  }

  #unnested(found: Found): Found | undefined {
    let at: Found | undefined = found;
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
    if (++this.#depth > mostNested) throw new Hopeless('max recursion depth exceeded');
    const expr = yield* visit;
    this.#depth--;
    return expr;
  }

  /** What there is no name for was complained about before. */
  #unknown(): Expr {
    if (this.#told() === 0) return this.#trees.refuse(undefined, 'unknown parse element encountered: <<nil>>');
    return this.#trees.broken(nowhere);
  }

  *#conditional(found: Found): Steps<Expr> {
    const condition = yield* this.expr(part(found, 'e'));
    const args = [condition, yield* this.expr(part(found, 'e1')), yield* this.expr(part(found, 'e2'))];
    return this.#trees.call(placeOf(found, 'op'), '_?_:_', undefined, args);
  }

  *#logic(found: Found, name: string): Steps<Expr> {
    const terms = yield* this.#all([...partsOf(found, 'e'), ...partsOf(found, 'e1')]);
    const places = tokensOf(found, 'ops').map(({ at }) => at);
    return this.#trees.logic(name, terms, places);
  }

  *#binary(found: Found): Steps<Expr> {
    const operator = operators.get(token(found, 'op')?.kind ?? 'EOF');
    if (operator === undefined) return this.#trees.refuse(found.start.at, 'operator not found');
    const args = [yield* this.expr(part(found, 'left')), yield* this.expr(part(found, 'right'))];
    return this.#trees.call(placeOf(found, 'op'), operator.name, undefined, args);
  }

  *#signed(found: Found, name: string): Steps<Expr> {
    const signs = tokensOf(found, 'ops');
    const member = yield* this.expr(part(found, 'member'));
    if (signs.length % 2 === 0) return member;
    return this.#trees.call(signs[0]?.at ?? found.start.at, name, undefined, [member]);
  }

  *#select(found: Found): Steps<Expr> {
    const operand = yield* this.expr(part(found, 'left'));
    const id = part(found, 'id');
    if (id === undefined || token(found, 'op') === undefined) return this.#trees.broken(found.start.at);
    const { name, refused } = identifierOf(id);
    if (refused !== undefined) this.#trees.refuse(id.start.at, refused);
    const at = placeOf(found, 'op');
    if (token(found, 'opt') === undefined) return this.#trees.select(at, operand, name);
    return this.#trees.call(at, '_?._', undefined, [operand, this.#trees.literal(id.start.at, name)]);
  }

  *#memberCall(found: Found): Steps<Expr> {
    const operand = yield* this.expr(part(found, 'left'));
    const id = token(found, 'id');
    if (id === undefined) return this.#trees.broken(found.start.at);
    const args = yield* this.#arguments(part(found, 'args'));
    return yield* this.#trees.callOrMacro(placeOf(found, 'open'), id.text, operand, args);
  }

  *#index(found: Found): Steps<Expr> {
    const operand = yield* this.expr(part(found, 'left'));
    if (token(found, 'op') === undefined) return this.#trees.broken(found.start.at);
    const index = yield* this.expr(part(found, 'index'));
    const name = token(found, 'opt') === undefined ? '_[_]' : '_[?_]';
    return this.#trees.call(placeOf(found, 'op'), name, undefined, [operand, index]);
  }

  *#name(found: Found): Steps<Expr> {
    const id = token(found, 'id');
    if (id === undefined) return this.#trees.broken(found.start.at);
    if (isReserved(id.text)) return this.#trees.refuse(found.start.at, `reserved identifier: ${id.text}`);
    const name = `${token(found, 'leadingDot') === undefined ? '' : '.'}${id.text}`;
    if (found.name === 'ident') return this.#trees.ident(id.at, name);
    const args = yield* this.#arguments(part(found, 'args'));
    return yield* this.#trees.callOrMacro(placeOf(found, 'op'), name, undefined, args);
  }

  #arguments(found: Found | undefined): Steps<readonly Expr[]> {
    return this.#all(partsOf(found, 'e'));
  }

  *#all(parts: readonly (Found | undefined)[]): Steps<readonly Expr[]> {
    const exprs: Expr[] = [];
    for (const part of parts) exprs.push(yield* this.expr(part));
    return exprs;
  }

  *#list(found: Found): Steps<Expr> {
    const optional = new Set<number>();
    const parts = partsOf(part(found, 'elems'), 'elems');
    for (const [index, element] of parts.entries()) if (token(element, 'opt') !== undefined) optional.add(index);
    const elements = yield* this.#all(parts.map((element) => part(element, 'e')));
    return this.#trees.list(placeOf(found, 'op'), elements, optional);
  }

  *#entries(found: Found | undefined): Steps<MapLiteral['entries']> {
    const keys = partsOf(found, 'keys');
    const values = partsOf(found, 'values');
    const entries: MapLiteral['entries'][number][] = [];
    for (const [index] of tokensOf(found, 'cols').entries()) {
      const key = keys[index];
      const value = values[index];
      if (key === undefined || value === undefined) return [];
      entries.push({
        id: this.#trees.id(),
        key: yield* this.expr(part(key, 'e')),
        value: yield* this.expr(value),
        optional: token(key, 'opt') !== undefined,
      });
    }
    return entries;
  }

  *#message(found: Found): Steps<Expr> {
    const names = tokensOf(found, 'ids').map(({ text }) => text);
    const name = `${token(found, 'leadingDot') === undefined ? '' : '.'}${names.join('.')}`;
    return this.#trees.struct(placeOf(found, 'op'), name, yield* this.#fields(part(found, 'entries')));
  }

  *#fields(found: Found | undefined): Steps<StructLiteral['fields']> {
    const values = partsOf(found, 'values');
    const colons = tokensOf(found, 'cols');
    const fields: StructLiteral['fields'][number][] = [];
    for (const [index, key] of partsOf(found, 'keys').entries()) {
      const value = values[index];
      const colon = colons[index];
      if (found === undefined || value === undefined || colon === undefined) return [];
      const { name, refused } = identifierOf(part(key, 'id'));
      if (refused !== undefined) {
        this.#trees.refuse(found.start.at, refused);
        continue;
      }
      const optional = token(key, 'opt') !== undefined;
      fields.push({ id: this.#trees.id(), at: colon.at, name, value: yield* this.expr(value), optional });
    }
    return fields;
  }

  #literal(found: Found): Expr {
    const literal = token(found, 'tok');
    if (literal === undefined) return this.#unknown();
    const sign = token(found, 'sign');
    const read = readLiteral(literal, sign !== undefined);
    const { at } = found.start;
    return read.refused === undefined ? this.#trees.literal(at, read.value) : this.#trees.refuse(at, read.refused);
  }
}

const partsOf = (found: Found | undefined, label: string): readonly Found[] =>
  (found?.parts ?? []).filter(([name]) => name === label).map(([, part]) => part);
const tokensOf = (found: Found | undefined, label: string): readonly Token[] =>
  (found?.tokens ?? []).filter(([name]) => name === label).map(([, token]) => token);
const part = (found: Found, label: string): Found | undefined => found.parts.find(([name]) => name === label)?.[1];
const token = (found: Found, label: string): Token | undefined => found.tokens.find(([name]) => name === label)?.[1];
const placeOf = (found: Found, label: string): number => token(found, label)?.at ?? found.start.at;

/** The name of a field. */
function identifierOf(found: Found | undefined): { readonly name: string; readonly refused?: string } {
  const id = found === undefined ? undefined : token(found, 'id');
  if (id === undefined) return { name: '', refused: 'unsupported ident kind' };
  return { name: found?.name === 'escapedIdentifier' ? withoutQuotes(id.text) : id.text };
}

/** What stands between backticks. */
export const withoutQuotes = (text: string): string => text.slice(1, -1);
