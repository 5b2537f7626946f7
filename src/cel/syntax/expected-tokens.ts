import type { TokenKind } from '../lexer.js';
import type { Rule, State } from './grammar.js';

/** The tokens that a state accepts; `end` means that its rule can also end there. */
export interface ExpectedTokens {
  readonly tokens: ReadonlySet<TokenKind>;
  readonly end: boolean;
}

const cache = new Map<State, ExpectedTokens>();

/**
 * Returns the tokens expected in a state. Looks into the rules that the state enters, but not beyond the end of its own
 * rule.
 */
export function expectedTokensAt(state: State): ExpectedTokens {
  const before = cache.get(state);
  if (before !== undefined) return before;
  const tokens = new Set<TokenKind>();
  const seen = new Set<State>();
  /** Returns whether the end of the rule is reached without a token. */
  const collect = (from: State, rules: ReadonlySet<Rule>): boolean => {
    if (from.role === 'rule end') return true;
    if (seen.has(from)) return false;
    seen.add(from);
    let end = false;
    for (const transition of from.transitions) {
      if (transition.kind === 'token') for (const kind of transition.tokens) tokens.add(kind);
      else if (transition.kind === 'rule') {
        if (!rules.has(transition.rule) && collect(transition.rule.start, new Set([...rules, transition.rule]))) {
          if (collect(transition.to, rules)) end = true;
        }
      } else if (transition.kind !== 'return' && collect(transition.to, rules)) end = true;
    }
    return end;
  };
  const expected = { end: collect(state, new Set()), tokens };
  cache.set(state, expected);
  return expected;
}
