import type { TokenKind } from '../lexer.js';
import type { Rule, State } from './grammar.js';

/** Tokens that may come at a state; `end`: the rule may end there. */
export interface Expected {
  readonly tokens: ReadonlySet<TokenKind>;
  readonly end: boolean;
}

const known = new Map<State, Expected>();

/** Within the rule of the state and the rules that it goes through. */
export function expectedAt(state: State): Expected {
  const before = known.get(state);
  if (before !== undefined) return before;
  const tokens = new Set<TokenKind>();
  const seen = new Set<State>();
  /** Answers whether the rule's end is reached without a token. */
  const look = (from: State, rules: ReadonlySet<Rule>): boolean => {
    if (from.role === 'rule end') return true;
    if (seen.has(from)) return false;
    seen.add(from);
    let end = false;
    for (const way of from.ways) {
      if (way.kind === 'token') for (const kind of way.tokens) tokens.add(kind);
      else if (way.kind === 'rule') {
        if (!rules.has(way.rule) && look(way.rule.start, new Set([...rules, way.rule]))) {
          if (look(way.to, rules)) end = true;
        }
      } else if (way.kind !== 'return' && look(way.to, rules)) end = true;
    }
    return end;
  };
  const expected = { end: look(state, new Set()), tokens };
  known.set(state, expected);
  return expected;
}
