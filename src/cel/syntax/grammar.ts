import type { TokenKind } from '../lexer.js';

/**
 * The grammar of expressions (cel-spec, "Syntax") as a transition network, for error messages. ANTLR generates cel-go's
 * parser from a grammar of this shape, and the state in which a text fails decides what the message says.
 */
export interface State {
  readonly id: number;
  readonly rule: string;
  /** What the parser does here with a token that fits no transition: skip it, give up the rule, or go on to match it. */
  readonly role: 'plain' | 'choice' | 'loop end' | 'rule end';
  readonly transitions: Transition[];
}

export type Transition =
  | { readonly kind: 'epsilon'; readonly to: State }
  | { readonly kind: 'token'; readonly tokens: ReadonlySet<TokenKind>; readonly to: State }
  /** Enters another rule, which continues with operators of at least this precedence. */
  | { readonly kind: 'rule'; readonly rule: Rule; readonly precedence: number; readonly to: State }
  /** Passes only where operators of this precedence may follow. */
  | { readonly kind: 'precedence'; readonly precedence: number; readonly to: State }
  /**
   * Leads from the end of a rule to a state where it can have been called; `outermost`: it is called without a
   * precedence there.
   */
  | { readonly kind: 'return'; readonly to: State; readonly outermost: boolean };

/** What the parser does for one alternative, in order. Labels name the tokens and children of the parse node. */
export type Step =
  | { readonly do: 'token'; readonly tokens: ReadonlySet<TokenKind>; readonly label: string; readonly at: State }
  | {
      readonly do: 'rule';
      readonly rule: Rule;
      readonly precedence: number;
      readonly label: string;
      readonly at: State;
    }
  | { readonly do: 'optional'; readonly steps: readonly Step[]; readonly at: State; readonly first: State }
  | {
      readonly do: 'repeat';
      readonly steps: readonly Step[];
      /** Whether at least one round is required. */
      readonly some: boolean;
      /** Whether deciding on another round takes more than the next token. */
      readonly looksAhead: boolean;
      readonly at: State;
      readonly again: State;
      readonly first: State;
    };

interface Alternative {
  readonly name: string;
  readonly steps: readonly Step[];
}

export interface Rule {
  readonly name: string;
  readonly start: State;
  readonly end: State;
  readonly alternatives: Alternative[];
  /** The state where one of several alternatives is chosen. */
  choice: State | undefined;
  /** Whether the next token decides which alternative is chosen. */
  simple: boolean;
  /** The suffixes that may follow repeatedly, by precedence: operators and member selections. */
  suffixes:
    | {
        readonly at: State;
        readonly again: State;
        readonly choice: State | undefined;
        readonly alternatives: readonly Alternative[];
      }
    | undefined;
}

let states = 0;
const state = (rule: string, role: State['role'] = 'plain'): State => ({ id: states++, rule, role, transitions: [] });
const epsilon = (from: State, to: State): void => {
  from.transitions.push({ kind: 'epsilon', to });
};

/**
 * A piece of a rule. Adds states that lead on from one state, to the given target if possible, and returns the step and
 * the last state.
 */
type Piece = (from: State, target?: State) => { readonly step: Step; readonly to: State };

const rules = new Map<string, Rule>();
function ruleOf(name: string): Rule {
  const known = rules.get(name);
  if (known !== undefined) return known;
  const rule: Rule = {
    name,
    start: state(name),
    end: state(name, 'rule end'),
    alternatives: [],
    choice: undefined,
    simple: false,
    suffixes: undefined,
  };
  rules.set(name, rule);
  return rule;
}

const token =
  (kinds: TokenKind | readonly TokenKind[], label = ''): Piece =>
  (from, target) => {
    const tokens: ReadonlySet<TokenKind> = new Set(typeof kinds === 'string' ? [kinds] : kinds);
    const at = state(from.rule);
    const to = target ?? state(from.rule);
    epsilon(from, at);
    at.transitions.push({ kind: 'token', tokens, to });
    return { step: { do: 'token', tokens, label, at }, to };
  };

const call =
  (name: string, label: string, precedence = 0): Piece =>
  (from, target) => {
    const rule = ruleOf(name);
    const at = state(from.rule);
    const to = target ?? state(from.rule);
    epsilon(from, at);
    at.transitions.push({ kind: 'rule', rule, precedence, to });
    const outermost = precedence === 0 && recursive.has(name);
    rule.end.transitions.push({ kind: 'return', to, outermost });
    return { step: { do: 'rule', rule, precedence, label, at }, to };
  };

const recursive: ReadonlySet<string> = new Set(['relation', 'calc', 'member']);

/** Adds the states of pieces, from one state to another. */
function sequence(from: State, pieces: readonly Piece[], target: State): readonly Step[] {
  const steps: Step[] = [];
  let to = from;
  for (const [index, piece] of pieces.entries()) {
    const added = piece(to, index === pieces.length - 1 ? target : undefined);
    steps.push(added.step);
    to = added.to;
  }
  if (to !== target) epsilon(to, target);
  return steps;
}

const optional =
  (...pieces: readonly Piece[]): Piece =>
  (from) => {
    const at = state(from.rule, 'choice');
    const first = state(from.rule);
    const after = state(from.rule);
    epsilon(from, at);
    epsilon(at, first);
    epsilon(at, after);
    const steps = sequence(first, pieces, after);
    return { step: { do: 'optional', steps, at, first }, to: after };
  };

const zeroOrMore =
  (looksAhead: boolean, ...pieces: readonly Piece[]): Piece =>
  (from) => {
    const at = state(from.rule, 'choice');
    const first = state(from.rule);
    const again = state(from.rule, 'loop end');
    const after = state(from.rule);
    epsilon(from, at);
    epsilon(at, first);
    epsilon(at, after);
    const steps = sequence(first, pieces, again);
    epsilon(again, at);
    return { step: { do: 'repeat', steps, some: false, looksAhead, at, again, first }, to: after };
  };

const oneOrMore =
  (looksAhead: boolean, ...pieces: readonly Piece[]): Piece =>
  (from) => {
    const at = state(from.rule, 'choice');
    const again = state(from.rule, 'loop end');
    const after = state(from.rule);
    epsilon(from, at);
    const steps = sequence(at, pieces, again);
    epsilon(again, at);
    epsilon(again, after);
    return { step: { do: 'repeat', steps, some: true, looksAhead, at, again, first: at }, to: after };
  };

interface Form {
  readonly name: string;
  readonly pieces: readonly Piece[];
  readonly precedence?: number;
}
const form = (name: string, ...pieces: readonly Piece[]): Form => ({ name, pieces });
const suffix = (name: string, precedence: number, ...pieces: readonly Piece[]): Form => ({ name, pieces, precedence });

function define(name: string, forms: readonly Form[], { simple = false, suffixes = [] as readonly Form[] } = {}): void {
  const rule = ruleOf(name);
  rule.simple = simple;
  const last = state(name);
  const choice = forms.length > 1 ? state(name, 'choice') : undefined;
  rule.choice = choice;
  if (choice !== undefined) epsilon(rule.start, choice);
  for (const { name: alternative, pieces } of forms) {
    const steps = sequence(branch(choice ?? rule.start), pieces, last);
    rule.alternatives.push({ name: alternative, steps });
  }
  if (suffixes.length === 0) {
    epsilon(last, rule.end);
    return;
  }
  const at = state(name, 'choice');
  const again = state(name, 'loop end');
  const inner = state(name, 'choice');
  epsilon(last, at);
  epsilon(at, inner);
  epsilon(at, rule.end);
  epsilon(again, at);
  const alternatives = suffixes.map(({ name: alternative, pieces, precedence = 0 }) => {
    const first = state(name);
    branch(inner).transitions.push({ kind: 'precedence', precedence, to: first });
    const steps = sequence(first, pieces, again);
    return { name: alternative, steps };
  });
  rule.suffixes = { at, again, choice: suffixes.length > 1 ? inner : undefined, alternatives };
}

function branch(from: State): State {
  const first = state(from.rule);
  epsilon(from, first);
  return first;
}

const commaAtEnd = optional(token("','"));
const optionalMark = optional(token("'?'", 'opt'));
const leadingDot = optional(token("'.'", 'leadingDot'));

define('start', [form('start', call('expr', 'e'), token('EOF'))]);
define('expr', [
  form(
    'expr',
    call('conditionalOr', 'e'),
    optional(token("'?'", 'op'), call('conditionalOr', 'e1'), token("':'"), call('expr', 'e2')),
  ),
]);
define('conditionalOr', [
  form(
    'conditionalOr',
    call('conditionalAnd', 'e'),
    zeroOrMore(false, token("'||'", 'ops'), call('conditionalAnd', 'e1')),
  ),
]);
define('conditionalAnd', [
  form('conditionalAnd', call('relation', 'e'), zeroOrMore(false, token("'&&'", 'ops'), call('relation', 'e1'))),
]);
define('relation', [form('relation', call('calc', 'only'))], {
  suffixes: [
    suffix(
      'relation',
      1,
      token(["'<'", "'<='", "'>='", "'>'", "'=='", "'!='", "'in'"], 'op'),
      call('relation', 'right', 2),
    ),
  ],
});
define('calc', [form('calc', call('unary', 'only'))], {
  suffixes: [
    suffix('calc', 2, token(["'*'", "'/'", "'%'"], 'op'), call('calc', 'right', 3)),
    suffix('calc', 1, token(["'+'", "'-'"], 'op'), call('calc', 'right', 2)),
  ],
});
define('unary', [
  form('memberExpr', call('member', 'only')),
  form('logicalNot', oneOrMore(false, token("'!'", 'ops')), call('member', 'member')),
  form('negate', oneOrMore(true, token("'-'", 'ops')), call('member', 'member')),
]);
define('member', [form('primaryExpr', call('primary', 'only'))], {
  suffixes: [
    suffix('select', 3, token("'.'", 'op'), optionalMark, call('escapeIdent', 'id')),
    suffix(
      'memberCall',
      2,
      token("'.'", 'op'),
      token('IDENTIFIER', 'id'),
      token("'('", 'open'),
      optional(call('exprList', 'args')),
      token("')'"),
    ),
    suffix('index', 1, token("'['", 'op'), optionalMark, call('expr', 'index'), token("']'")),
  ],
});
define('primary', [
  form('ident', leadingDot, token('IDENTIFIER', 'id')),
  form(
    'globalCall',
    leadingDot,
    token('IDENTIFIER', 'id'),
    token("'('", 'op'),
    optional(call('exprList', 'args')),
    token("')'"),
  ),
  form('nested', token("'('"), call('expr', 'only'), token("')'")),
  form('createList', token("'['", 'op'), optional(call('listInit', 'elems')), commaAtEnd, token("']'")),
  form('createMap', token("'{'", 'op'), optional(call('mapInitializerList', 'entries')), commaAtEnd, token("'}'")),
  form(
    'createMessage',
    leadingDot,
    token('IDENTIFIER', 'ids'),
    zeroOrMore(false, token("'.'"), token('IDENTIFIER', 'ids')),
    token("'{'", 'op'),
    optional(call('fieldInitializerList', 'entries')),
    commaAtEnd,
    token("'}'"),
  ),
  form('constantLiteral', call('literal', 'only')),
]);
define('exprList', [form('exprList', call('expr', 'e'), zeroOrMore(false, token("','"), call('expr', 'e')))]);
define('listInit', [
  form('listInit', call('optExpr', 'elems'), zeroOrMore(true, token("','"), call('optExpr', 'elems'))),
]);
define('fieldInitializerList', [
  form(
    'fieldInitializerList',
    call('optField', 'keys'),
    token("':'", 'cols'),
    call('expr', 'values'),
    zeroOrMore(true, token("','"), call('optField', 'keys'), token("':'", 'cols'), call('expr', 'values')),
  ),
]);
define('optField', [form('optField', optionalMark, call('escapeIdent', 'id'))]);
define('mapInitializerList', [
  form(
    'mapInitializerList',
    call('optExpr', 'keys'),
    token("':'", 'cols'),
    call('expr', 'values'),
    zeroOrMore(true, token("','"), call('optExpr', 'keys'), token("':'", 'cols'), call('expr', 'values')),
  ),
]);
define('escapeIdent', [
  form('simpleIdentifier', token('IDENTIFIER', 'id')),
  form('escapedIdentifier', token('ESC_IDENTIFIER', 'id')),
], { simple: true });
define('optExpr', [form('optExpr', optionalMark, call('expr', 'e'))]);
const sign = optional(token("'-'", 'sign'));
define('literal', [
  form('literal', sign, token('NUM_INT', 'tok')),
  form('literal', token('NUM_UINT', 'tok')),
  form('literal', sign, token('NUM_FLOAT', 'tok')),
  form('literal', token('STRING', 'tok')),
  form('literal', token('BYTES', 'tok')),
  form('literal', token("'true'", 'tok')),
  form('literal', token("'false'", 'tok')),
  form('literal', token("'null'", 'tok')),
]);

/** The rule of a whole expression. */
export const startRule = ruleOf('start');
