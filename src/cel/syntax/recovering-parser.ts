import type { Steps } from '../../api/steps.js';
import { type Token, type TokenKind, tokenAt, tokenKinds } from '../lexer.js';
import type { Source } from '../source.js';
import { expectedTokensAt } from './expected-tokens.js';
import { type Rule, type State, type Step, startRule } from './grammar.js';
import { predict } from './prediction.js';

/** A node of the parse tree: one rule. Tokens and children are missing where the text has errors. */
export interface ParseNode {
  readonly rule: string;
  /** The name of the chosen alternative, or that of the rule before one is chosen. */
  readonly name: string;
  readonly start: Token;
  /** The tokens, by label. */
  readonly tokens: (readonly [string, Token])[];
  readonly children: (readonly [string, ParseNode])[];
}

/** Thrown to stop after an error that was reported already. */
export class ParserStopped extends Error {}
/** Thrown when a limit of the parser is exceeded; its message is then the only error. */
export class ParserLimitExceeded extends Error {}

/** Thrown within a rule that cannot continue (ANTLR's RecognitionException). */
class RecognitionError extends Error {
  readonly complaint: string;
  readonly token: Token;
  constructor(complaint: string, token: Token) {
    super(complaint);
    this.complaint = complaint;
    this.token = token;
  }
}

interface RuleCall {
  readonly rule: Rule;
  readonly precedence: number;
  readonly to: State | undefined;
}
/** Yields the rule to parse next, and is resumed with its node; yields undefined to pause. */
type RuleSteps<T> = Generator<RuleCall | undefined, T, ParseNode>;

/** A rule that was entered, with the state in which its caller continues. */
interface Frame {
  readonly to: State | undefined;
  readonly outer: Frame | undefined;
}

/** The maximum nesting of expressions, operators and members, as cel-go counts it. */
export const maxNesting = 250;
/** The number of rules parsed before a pause. */
const rulesInStep = 2_000;
const maxErrors = 100;
const maxRecoveries = 30;
const maxSkipped = 256;

/**
 * Parses as cel-go's generated parser does, with ANTLR's error recovery: it deletes or inserts a token, or skips the rest of
 * a rule, reports that, and continues.
 */
export class RecoveringParser {
  readonly #source: Source;
  readonly #onError: (at: number, message: string) => void;
  readonly #tokens: Token[] = [];
  readonly #unreadable: { readonly at: number; readonly end: number }[] = [];
  readonly #depths = new Map<string, number>();
  #readUpTo = 0;
  #index = 0;
  #state: State = startRule.start;
  #frame: Frame | undefined;
  #reported = 0;
  #recoveries = 0;
  /** The number of tokens that the current recovery may still skip. */
  #skipsLeft = Number.POSITIVE_INFINITY;
  /** True from an error until a token matches again; further errors are not reported meanwhile. */
  #recovering = false;
  #lastIndex = -1;
  readonly #lastStates = new Set<State>();

  constructor(source: Source, tell: (at: number, message: string) => void) {
    this.#source = source;
    this.#onError = tell;
  }

  *run(): Steps<ParseNode> {
    const open = [this.#rule(startRule, 0, undefined)];
    let found: ParseNode | undefined;
    for (let count = 1; ; count++) {
      if (count % rulesInStep === 0) yield;
      // The first value passed to a generator is ignored.
      const { done, value } = open.at(-1)!.next(found as ParseNode);
      if (!done) {
        found = undefined;
        if (value === undefined) yield;
        else open.push(this.#rule(value.rule, value.precedence, value.to));
        continue;
      }
      open.pop();
      if (open.length === 0) return value;
      found = value;
    }
  }

  #token(ahead: number): Token {
    const index = this.#index + ahead - 1;
    while (this.#tokens.length <= index && this.#tokens.at(-1)?.kind !== 'EOF') {
      const token = tokenAt(this.#source, this.#readUpTo);
      this.#readUpTo = token.end;
      if (token.kind === 'unreadable') {
        this.#unreadable.push(token);
        this.#report(token.at, `token recognition error at: '${token.text}'`);
      } else this.#tokens.push(token);
    }
    return this.#tokens[index] ?? this.#tokens.at(-1)!;
  }

  readonly #kindAhead = (ahead: number): TokenKind => this.#token(ahead).kind;

  #kind(ahead = 1): TokenKind {
    return this.#token(ahead).kind;
  }

  /** Moves past the next token, but not past the end. */
  #consume(): void {
    if (this.#skipsLeft-- <= 0)
      throw new ParserLimitExceeded(`error recovery token lookahead limit exceeded: ${maxSkipped}`);
    if (this.#kind() === 'EOF') return;
    this.#index++;
    // Reports invalid characters before the next token.
    this.#token(1);
  }

  #report(at: number, message: string): void {
    const many = this.#reported >= maxErrors;
    this.#reported++;
    this.#onError(at, `Syntax error: ${many ? `More than ${maxErrors} syntax errors` : message}`);
    if (many) throw new ParserStopped();
  }

  #reportOnce(token: Token, message: string): void {
    if (this.#recovering) return;
    this.#recovering = true;
    this.#report(token.at, message);
  }

  #matched(): void {
    this.#recovering = false;
    this.#lastStates.clear();
    this.#lastIndex = -1;
  }

  /** Parses a rule. Rules within it are yielded rather than called, so that nesting takes no stack. */
  *#rule(rule: Rule, precedence: number, to: State | undefined): RuleSteps<ParseNode> {
    const depth = (this.#depths.get(rule.name) ?? 0) + 1;
    this.#depths.set(rule.name, depth);
    if (depth > maxNesting) throw new ParserLimitExceeded(`expression recursion limit exceeded: ${maxNesting}`);
    const outer = this.#frame;
    this.#frame = { to, outer };
    this.#state = rule.start;
    let found = newNode(rule.name, rule.name, this.#token(1));
    try {
      let chosen = 1;
      if (rule.choice !== undefined) {
        this.#sync(rule.choice);
        chosen = rule.simple ? this.#chooseByToken(rule) : this.#predict(rule.choice, precedence, false);
      }
      const alternative = rule.alternatives[chosen - 1]!;
      if (alternative.name !== rule.name) found = newNode(rule.name, alternative.name, found.start);
      for (const step of alternative.steps) yield* this.#step(step, found, precedence);
      const { suffixes } = rule;
      if (suffixes !== undefined) {
        this.#sync(suffixes.at);
        for (let count = 1; this.#predict(suffixes.at, precedence, true) === 1; count++) {
          if (count % rulesInStep === 0) yield;
          let which = 1;
          if (suffixes.choice !== undefined) {
            this.#sync(suffixes.choice);
            which = this.#predict(suffixes.choice, precedence, false);
          }
          const suffix = suffixes.alternatives[which - 1]!;
          const left = found;
          found = newNode(rule.name, suffix.name, left.start);
          found.children.push(['left', left]);
          for (const step of suffix.steps) yield* this.#step(step, found, precedence);
          this.#sync(suffixes.again);
        }
      }
    } catch (error) {
      if (!(error instanceof RecognitionError)) throw error;
      this.#reportOnce(error.token, error.complaint);
      this.#recover();
    }
    this.#frame = outer;
    this.#depths.set(rule.name, depth - 1);
    return found;
  }

  *#step(step: Step, found: ParseNode, precedence: number): RuleSteps<void> {
    switch (step.do) {
      case 'token': {
        this.#state = step.at;
        const token = this.#match(step.tokens);
        if (step.label !== '') found.tokens.push([step.label, token]);
        return;
      }
      case 'rule': {
        this.#state = step.at;
        const [transition] = step.at.transitions;
        const child: ParseNode = yield { rule: step.rule, precedence: step.precedence, to: transition?.to };
        if (step.label !== '') found.children.push([step.label, child]);
        this.#state = step.at;
        return;
      }
      case 'optional':
        this.#sync(step.at);
        if (!expectedTokensAt(step.first).tokens.has(this.#kind())) return;
        for (const inner of step.steps) yield* this.#step(inner, found, precedence);
        return;
      case 'repeat': {
        this.#sync(step.at);
        const goesOn = (): boolean =>
          step.looksAhead
            ? this.#predict(step.some ? step.again : step.at, precedence, false) === 1
            : expectedTokensAt(step.first).tokens.has(this.#kind());
        let on = step.some || goesOn();
        while (on) {
          for (const inner of step.steps) yield* this.#step(inner, found, precedence);
          this.#sync(step.again);
          on = goesOn();
        }
      }
    }
  }

  #chooseByToken(rule: Rule): number {
    const kind = this.#kind();
    const index = rule.choice?.transitions.findIndex(({ to }) => expectedTokensAt(to).tokens.has(kind)) ?? -1;
    if (index < 0) throw this.#noViableAlternative(this.#token(1), this.#token(1));
    return index + 1;
  }

  #predict(from: State, precedence: number, loop: boolean): number {
    const prediction = predict(from, precedence, loop, this.#kindAhead);
    if (prediction.failedAt === undefined) return prediction.alternative;
    throw this.#noViableAlternative(this.#token(1), this.#token(prediction.failedAt));
  }

  #noViableAlternative(start: Token, offending: Token): RecognitionError {
    const input = start.kind === 'EOF' ? '<EOF>' : this.#textOf(start, offending);
    const complaint = `no viable alternative at input ${escaped(input)}`;
    return new RecognitionError(
      complaint.replace(reservedAfterDot, "mismatched input '$1' expecting IDENTIFIER"),
      offending,
    );
  }

  /** Returns the text from one token to another, without characters that are part of no token. */
  #textOf(start: Token, last: Token): string {
    const end = last.kind === 'EOF' ? last.at : last.end;
    let text = '';
    let from = start.at;
    for (const gap of this.#unreadable) {
      if (gap.at < from || gap.at >= end) continue;
      text += this.#source.slice(from, gap.at);
      from = gap.end;
    }
    return text + this.#source.slice(from, end);
  }

  #mismatch(): RecognitionError {
    const token = this.#token(1);
    return new RecognitionError(
      `mismatched input ${escaped(token.text)} expecting ${tokenKindsText(this.#expected(this.#state))}`,
      token,
    );
  }

  #match(tokens: ReadonlySet<TokenKind>): Token {
    const token = this.#token(1);
    if (!tokens.has(token.kind)) return this.#recoverInline();
    this.#matched();
    this.#consume();
    return token;
  }

  #recoverInline(): Token {
    return this.#limited(() => {
      const deleted = this.#singleTokenDeletion();
      if (deleted !== undefined) {
        this.#consume();
        return deleted;
      }
      const [transition] = this.#state.transitions;
      const token = this.#token(1);
      if (transition === undefined || !this.#expected(transition.to).has(token.kind)) throw this.#mismatch();
      const expected = this.#expected(this.#state);
      this.#reportOnce(token, `missing ${tokenKindsText(expected)} at ${escaped(token.text)}`);
      const kind = tokenKinds.find((name) => expected.has(name)) ?? 'EOF';
      const name = kind === 'EOF' ? 'EOF' : kind.startsWith("'") ? kind : 'undefined';
      const { at, end } = token.kind === 'EOF' && this.#index > 0 ? this.#token(0) : token;
      return { kind, text: `<missing ${name}>`, at, end };
    });
  }

  /** Skips a token if the one after it is expected, and returns that one. */
  #singleTokenDeletion(): Token | undefined {
    if (!this.#expected(this.#state).has(this.#kind(2))) return undefined;
    this.#reportUnwanted();
    this.#consume();
    const matched = this.#token(1);
    this.#matched();
    return matched;
  }

  #reportUnwanted(): void {
    const token = this.#token(1);
    this.#reportOnce(
      token,
      `extraneous input ${escaped(token.text)} expecting ${tokenKindsText(this.#expected(this.#state))}`,
    );
  }

  /** Enters a state, and recovers at once if the next token is not expected there (ANTLR's sync). */
  #sync(state: State): void {
    this.#state = state;
    if (this.#recovering) return;
    const { tokens, end } = expectedTokensAt(state);
    if (end || tokens.has(this.#kind())) return;
    if (state.role === 'choice') {
      if (this.#singleTokenDeletion() === undefined) throw this.#mismatch();
    } else {
      this.#reportUnwanted();
      this.#skipTo(new Set([...this.#expected(state), ...this.#followers()]));
    }
  }

  /** The tokens that can follow a state, also beyond the end of its rule. */
  #expected(state: State): ReadonlySet<TokenKind> {
    const expected = expectedTokensAt(state);
    if (!expected.end) return expected.tokens;
    const tokens = new Set(expected.tokens);
    for (let frame = this.#frame; frame?.to !== undefined; frame = frame.outer) {
      const next = expectedTokensAt(frame.to);
      for (const kind of next.tokens) tokens.add(kind);
      if (!next.end) return tokens;
    }
    return tokens.add('EOF');
  }

  /** The tokens that can follow any of the entered rules. */
  #followers(): ReadonlySet<TokenKind> {
    const tokens = new Set<TokenKind>();
    for (let frame = this.#frame; frame?.to !== undefined; frame = frame.outer) {
      for (const kind of expectedTokensAt(frame.to).tokens) tokens.add(kind);
    }
    return tokens;
  }

  #skipTo(tokens: ReadonlySet<TokenKind>): void {
    while (this.#kind() !== 'EOF' && !tokens.has(this.#kind())) this.#consume();
  }

  #recover(): void {
    this.#limited(() => {
      if (this.#lastIndex === this.#index && this.#lastStates.has(this.#state)) this.#consume();
      this.#lastIndex = this.#index;
      this.#lastStates.add(this.#state);
      this.#skipTo(this.#followers());
    });
  }

  /** Runs one recovery. The number of recoveries, and of tokens that each may skip, is limited. */
  #limited<T>(attempt: () => T): T {
    if (this.#recoveries++ === maxRecoveries) {
      this.#report(this.#token(1).at, `error recovery attempt limit exceeded: ${maxRecoveries}`);
      throw new ParserStopped();
    }
    this.#skipsLeft = maxSkipped;
    try {
      return attempt();
    } finally {
      this.#skipsLeft = Number.POSITIVE_INFINITY;
    }
  }
}

const reservedAfterDot = /no viable alternative at input '.(true|false|null)'/gu;

const newNode = (rule: string, name: string, start: Token): ParseNode => ({
  rule,
  name,
  start,
  tokens: [],
  children: [],
});

const escaped = (text: string): string =>
  `'${text.replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}'`;

/** Lists kinds of tokens as messages show them: `'+'`, or `{'+', '-'}`. */
function tokenKindsText(kinds: ReadonlySet<TokenKind>): string {
  const names = tokenKinds.filter((kind) => kinds.has(kind)).map((kind) => (kind === 'EOF' ? '<EOF>' : kind));
  return names.length === 1 ? (names[0] ?? '') : `{${names.join(', ')}}`;
}
