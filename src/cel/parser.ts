import { itemsPerStep, type Steps } from '../api/steps.js';
import type { Expr, MapLiteral, StructLiteral } from './ast.js';
import { type Issue, Issues } from './issues.js';
import { type Token, type TokenKind, tokenAt } from './lexer.js';
import { readLiteral } from './literals.js';
import { operators } from './operators.js';
import { isReserved } from './reserved.js';
import { Source } from './source.js';
import { RecoveredTreeBuilder, withoutBackticks } from './syntax/recovered-tree.js';
import { maxNesting, ParserLimitExceeded, ParserStopped, RecoveringParser } from './syntax/recovering-parser.js';
import { type Macro, macroKey, TooManyNodes, TreeBuilder } from './tree-builder.js';

/** The syntax tree with macros expanded, or the errors in the order of their positions. */
export type ParseResult =
  | { readonly expr: Expr; readonly source: Source; readonly issues?: undefined }
  | { readonly issues: readonly Issue[]; readonly expr?: undefined };

const mostCodePoints = 100_000;

/** Parses an expression (cel-spec, "Syntax"); errors are in cel-go's words. */
export function* parse(text: string, macros: readonly Macro[]): Steps<ParseResult> {
  const source = new Source(text);
  const issues = new Issues(source);
  if (source.length > mostCodePoints) {
    const size = `size: ${source.length}, limit ${mostCodePoints}`;
    issues.add(undefined, `expression code point size exceeds limit: ${size}`);
    return { issues: issues.list() };
  }
  const byKey = new Map(macros.map((macro) => [macroKey(macro.name, macro.args, macro.member), macro]));
  const expr = yield* parseValid(source, new TreeBuilder(issues, byKey));
  if (expr !== undefined && issues.count === 0) return { expr, source };
  yield;
  return { issues: yield* syntaxIssues(source, byKey) };
}

function* parseValid(source: Source, builder: TreeBuilder): Steps<Expr | undefined> {
  try {
    return yield* new Parser(source, builder).read();
  } catch (error) {
    if (error instanceof NotParsed || error instanceof TooManyNodes) return undefined;
    throw error;
  }
}

/** Parses the text again with error recovery, to find all errors. */
function* syntaxIssues(source: Source, macros: ReadonlyMap<string, Macro>): Steps<readonly Issue[]> {
  const issues = new Issues(source);
  const machine = new RecoveringParser(source, (at, message) => issues.add(at, message));
  try {
    const found = yield* machine.run();
    yield;
    yield* new RecoveredTreeBuilder(new TreeBuilder(issues, macros), () => issues.count).expr(found);
  } catch (error) {
    if (error instanceof ParserLimitExceeded || error instanceof TooManyNodes) issues.add(undefined, error.message);
    else if (!(error instanceof ParserStopped)) throw error;
  }
  return issues.list();
}

/** Thrown for a text with a syntax error; the recovering parser then finds out which. */
class NotParsed extends Error {}

const literalKinds: ReadonlySet<TokenKind> = new Set<TokenKind>([
  'NUM_FLOAT',
  'NUM_INT',
  'NUM_UINT',
  'STRING',
  'BYTES',
  "'true'",
  "'false'",
  "'null'",
]);

/** A fast parser for valid expressions, which gives up at the first error. */
class Parser {
  readonly #source: Source;
  readonly #tokens: Token[] = [];
  readonly #builder: TreeBuilder;
  #readUpTo = 0;
  #index = 0;
  #pauseAt = itemsPerStep;
  /** The current nesting of each kind of rule. */
  readonly #depth = { expr: 0, relation: 0, calc: 0 };
  /** The nesting of operators, members and calls in the part parsed last. */
  #height = 0;

  constructor(source: Source, builder: TreeBuilder) {
    this.#source = source;
    this.#builder = builder;
  }

  *read(): Steps<Expr> {
    const expr = yield* this.#expr();
    this.#take('EOF');
    if (this.#height > maxNesting) throw new NotParsed();
    return expr;
  }

  #peek(ahead = 0): TokenKind {
    const index = this.#index + ahead;
    while (this.#tokens.length <= index) {
      const token = tokenAt(this.#source, this.#readUpTo);
      if (token.kind === 'unreadable') throw new NotParsed();
      this.#tokens.push(token);
      this.#readUpTo = token.end;
    }
    return this.#tokens[index]!.kind;
  }

  #next(): Token {
    this.#peek();
    return this.#tokens[this.#index++]!;
  }

  #take(kind: TokenKind): Token {
    if (this.#peek() !== kind) throw new NotParsed();
    return this.#next();
  }

  #takeIf(kind: TokenKind): Token | undefined {
    return this.#peek() === kind ? this.#next() : undefined;
  }

  #enter(rule: 'expr' | 'relation' | 'calc'): void {
    if (++this.#depth[rule] > maxNesting) throw new NotParsed();
  }

  get #isPauseDue(): boolean {
    if (this.#index < this.#pauseAt) return false;
    this.#pauseAt = this.#index + itemsPerStep;
    return true;
  }

  /** Parses a part, and keeps the greater nesting of it and of the part before. */
  *#and(part: Steps<Expr>): Steps<Expr> {
    const before = this.#height;
    const expr = yield* part;
    this.#height = Math.max(before, this.#height);
    return expr;
  }

  *#expr(): Steps<Expr> {
    this.#enter('expr');
    let expr = yield* this.#disjunction();
    const question = this.#takeIf("'?'");
    if (question !== undefined) {
      const chosen = yield* this.#and(this.#disjunction());
      this.#take("':'");
      const otherwise = yield* this.#and(this.#expr());
      this.#height++;
      expr = this.#builder.call(question.at, '_?_:_', undefined, [expr, chosen, otherwise]);
    }
    this.#depth.expr--;
    return expr;
  }

  #disjunction(): Steps<Expr> {
    return this.#logic('_||_', "'||'", () => this.#logic('_&&_', "'&&'", () => this.#relation(true)));
  }

  *#logic(name: string, operator: TokenKind, term: () => Steps<Expr>): Steps<Expr> {
    const terms = [yield* term()];
    const places: number[] = [];
    for (;;) {
      const token = this.#takeIf(operator);
      if (token === undefined) return this.#builder.logic(name, terms, places);
      places.push(token.at);
      terms.push(yield* this.#and(term()));
    }
  }

  /**
   * Parses comparisons, which all have the same precedence. With `many` false, stops before the next one, which is left
   * to the caller.
   */
  *#relation(many: boolean): Steps<Expr> {
    this.#enter('relation');
    let left = yield* this.#calc(0);
    for (;;) {
      const operator = operators.get(this.#peek());
      if (!many || operator?.precedence !== 'relation') break;
      const { at } = this.#next();
      const right = yield* this.#and(this.#relation(false));
      this.#height++;
      left = this.#builder.call(at, operator.name, undefined, [left, right]);
    }
    this.#depth.relation--;
    return left;
  }

  /** Parses sums and products with at least this precedence. */
  *#calc(least: number): Steps<Expr> {
    this.#enter('calc');
    let left = yield* this.#unary();
    for (;;) {
      const operator = operators.get(this.#peek());
      if (operator === undefined || operator.precedence === 'relation' || operator.precedence < least) break;
      const { at } = this.#next();
      const above = operator.precedence + 1;
      const right = yield* this.#and(this.#calc(above));
      this.#height++;
      left = this.#builder.call(at, operator.name, undefined, [left, right]);
    }
    this.#depth.calc--;
    return left;
  }

  *#unary(): Steps<Expr> {
    const first = this.#peek();
    if (first === "'!'") return yield* this.#signed('!_', first);
    if (first === "'-'" && !this.#isNegativeLiteral()) return yield* this.#signed('-_', first);
    return yield* this.#member();
  }

  /** Parses a row of the same unary operator, in which each pair cancels out. */
  *#signed(name: string, operator: TokenKind): Steps<Expr> {
    const { at } = this.#take(operator);
    let count = 1;
    while (this.#takeIf(operator) !== undefined) {
      count++;
      if (this.#isPauseDue) yield;
    }
    const member = yield* this.#member();
    return count % 2 === 0 ? member : this.#builder.call(at, name, undefined, [member]);
  }

  #isNegativeLiteral(): boolean {
    return this.#peek() === "'-'" && (this.#peek(1) === 'NUM_INT' || this.#peek(1) === 'NUM_FLOAT');
  }

  *#member(): Steps<Expr> {
    let expr = yield* this.#primary();
    for (;;) {
      const operator = this.#takeIf("'.'") ?? this.#takeIf("'['");
      if (operator === undefined) break;
      if (this.#isPauseDue) yield;
      expr = yield* operator.kind === "'.'" ? this.#selected(expr, operator) : this.#indexed(expr, operator);
      this.#height++;
    }
    return expr;
  }

  *#selected(operand: Expr, dot: Token): Steps<Expr> {
    const optional = this.#takeIf("'?'") !== undefined;
    if (!optional && this.#peek() === 'IDENTIFIER' && this.#peek(1) === "'('") {
      const { text } = this.#next();
      const { at } = this.#next();
      return yield* this.#builder.callOrMacro(at, text, operand, yield* this.#arguments());
    }
    const { at, name } = this.#fieldName();
    if (!optional) return this.#builder.select(dot.at, operand, name);
    return this.#builder.call(dot.at, '_?._', undefined, [operand, this.#builder.literal(at, name)]);
  }

  #fieldName(): { readonly at: number; readonly name: string } {
    const escaped = this.#takeIf('ESC_IDENTIFIER');
    if (escaped !== undefined) return { at: escaped.at, name: withoutBackticks(escaped.text) };
    const { at, text } = this.#take('IDENTIFIER');
    return { at, name: text };
  }

  *#indexed(operand: Expr, bracket: Token): Steps<Expr> {
    const optional = this.#takeIf("'?'") !== undefined;
    const index = yield* this.#and(this.#expr());
    this.#take("']'");
    return this.#builder.call(bracket.at, optional ? '_[?_]' : '_[_]', undefined, [operand, index]);
  }

  /** Parses arguments up to and including the closing parenthesis. */
  *#arguments(): Steps<readonly Expr[]> {
    const args: Expr[] = [];
    if (this.#takeIf("')'") !== undefined) return args;
    do args.push(yield* this.#and(this.#expr()));
    while (this.#takeIf("','") !== undefined);
    this.#take("')'");
    return args;
  }

  *#primary(): Steps<Expr> {
    this.#height = 0;
    if (this.#isPauseDue) yield;
    const kind = this.#peek();
    if (kind === "'('") {
      this.#next();
      const expr = yield* this.#expr();
      this.#take("')'");
      return expr;
    }
    if (kind === "'['") return yield* this.#list();
    if (kind === "'{'") return yield* this.#map();
    if (kind === "'.'" || kind === 'IDENTIFIER') return yield* this.#named();
    const sign = this.#isNegativeLiteral() ? this.#next() : undefined;
    if (!literalKinds.has(this.#peek())) throw new NotParsed();
    const token = this.#next();
    const read = readLiteral(token, sign !== undefined);
    const at = sign?.at ?? token.at;
    return read.refused === undefined ? this.#builder.literal(at, read.value) : this.#builder.refuse(at, read.refused);
  }

  /** Parses a name, a function call or a struct literal. */
  *#named(): Steps<Expr> {
    const dot = this.#takeIf("'.'") === undefined ? '' : '.';
    const name = this.#take('IDENTIFIER');
    let last = 0;
    while (this.#peek(last) === "'.'" && this.#peek(last + 1) === 'IDENTIFIER') last += 2;
    if (this.#peek(last) === "'{'") return yield* this.#struct(dot + name.text);
    if (isReserved(name.text)) throw new NotParsed();
    const open = this.#takeIf("'('");
    if (open === undefined) return this.#builder.ident(name.at, dot + name.text);
    return yield* this.#builder.callOrMacro(open.at, dot + name.text, undefined, yield* this.#arguments());
  }

  *#list(): Steps<Expr> {
    const { at } = this.#take("'['");
    const elements: Expr[] = [];
    const optional = new Set<number>();
    while (this.#peek() !== "']'" && this.#peek() !== "','") {
      if (this.#takeIf("'?'") !== undefined) optional.add(elements.length);
      elements.push(yield* this.#and(this.#expr()));
      if (this.#peek() !== "','" || this.#peek(1) === "']'") break;
      this.#next();
      if (this.#peek() === "','") throw new NotParsed();
    }
    this.#takeIf("','");
    this.#take("']'");
    return this.#builder.list(at, elements, optional);
  }

  *#map(): Steps<Expr> {
    const { at } = this.#take("'{'");
    const entries = yield* this.#members(() => this.#entry());
    return this.#builder.map(at, entries);
  }

  *#entry(): Steps<MapLiteral['entries'][number]> {
    const optional = this.#takeIf("'?'") !== undefined;
    const key = yield* this.#and(this.#expr());
    this.#take("':'");
    const value = yield* this.#and(this.#expr());
    return { id: this.#builder.id(), key, value, optional };
  }

  *#struct(first: string): Steps<Expr> {
    let name = first;
    while (this.#takeIf("'.'") !== undefined) name += `.${this.#take('IDENTIFIER').text}`;
    const { at } = this.#take("'{'");
    const fields = yield* this.#members(() => this.#field());
    return this.#builder.struct(at, name, fields);
  }

  *#field(): Steps<StructLiteral['fields'][number]> {
    const optional = this.#takeIf("'?'") !== undefined;
    const { name } = this.#fieldName();
    const colon = this.#take("':'");
    const value = yield* this.#and(this.#expr());
    return { id: this.#builder.id(), at: colon.at, name, value, optional };
  }

  /** Parses members of a map or structure up to and including the closing brace; a trailing comma is allowed. */
  *#members<T>(read: () => Steps<T>): Steps<readonly T[]> {
    const members: T[] = [];
    while (this.#peek() !== "'}'" && this.#peek() !== "','") {
      members.push(yield* read());
      if (this.#peek() !== "','" || this.#peek(1) === "'}'") break;
      this.#next();
      if (this.#peek() === "','") throw new NotParsed();
    }
    this.#takeIf("','");
    this.#take("'}'");
    return members;
  }
}
