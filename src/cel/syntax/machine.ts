import type { Steps } from '../../api/steps.js';
import { type Token, type TokenKind, tokenAt, tokenKinds } from '../lexer.js';
import type { Source } from '../source.js';
import { expectedAt } from './expected.js';
import { type Rule, type State, type Step, startRule } from './grammar.js';
import { predict } from './prediction.js';

/** What was found of one rule; a text that is no expression leaves gaps. */
export interface Found {
  readonly rule: string;
  /** Of its alternatives; the name of the rule while none was chosen. */
  readonly name: string;
  readonly start: Token;
  /** By label. */
  readonly tokens: (readonly [string, Token])[];
  readonly parts: (readonly [string, Found])[];
}

/** Thrown when nothing more is to be read; what there is to say was said before. */
export class Stopped extends Error {}
/** Thrown for what concerns all of the text. */
export class Hopeless extends Error {}

/** Thrown within a rule that cannot go on. */
class Lost extends Error {
  readonly complaint: string;
  readonly token: Token;
  constructor(complaint: string, token: Token) {
    super(complaint);
    this.complaint = complaint;
    this.token = token;
  }
}

interface Ask {
  readonly rule: Rule;
  readonly precedence: number;
  readonly to: State | undefined;
}
/** Asks for what is found of a rule within, or for nothing: only a pause. */
type Following<T> = Generator<Ask | undefined, T, Found>;

/** A rule that is being followed: where its caller goes on. */
interface Frame {
  readonly to: State | undefined;
  readonly outer: Frame | undefined;
}

/** Of nested parts, and of operators and members within each other, as cel-go counts them. */
export const mostNested = 250;
/** So many rules are followed in a step. */
const rulesInStep = 2_000;
const mostReported = 100;
const mostRecoveries = 30;
const mostSkipped = 256;

/**
 * Reads a text as the parser of cel-go does, with what it does when it finds something wrong: a token may be left out or
 * taken for granted, or the rest of a rule is skipped, and it goes on, telling each time.
 */
export class Machine {
  readonly #source: Source;
  readonly #tell: (at: number, message: string) => void;
  readonly #tokens: Token[] = [];
  readonly #unreadable: { readonly at: number; readonly end: number }[] = [];
  readonly #depths = new Map<string, number>();
  #readTo = 0;
  #index = 0;
  #state: State = startRule.start;
  #frame: Frame | undefined;
  #reported = 0;
  #recoveries = 0;
  /** How many more tokens may be skipped for the present trouble. */
  #skips = Number.POSITIVE_INFINITY;
  /** After something was told, until a token fits again. */
  #recovering = false;
  #lastIndex = -1;
  readonly #lastStates = new Set<State>();

  constructor(source: Source, tell: (at: number, message: string) => void) {
    this.#source = source;
    this.#tell = tell;
  }

  *run(): Steps<Found> {
    const open = [this.#rule(startRule, 0, undefined)];
    let found: Found | undefined;
    for (let count = 1; ; count++) {
      if (count % rulesInStep === 0) yield;
      // The first answer is not looked at.
      const { done, value } = open.at(-1)!.next(found as Found);
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
      const token = tokenAt(this.#source, this.#readTo);
      this.#readTo = token.end;
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

  /** Goes beyond the next token, but not beyond the end. */
  #consume(): void {
    if (this.#skips-- <= 0) throw new Hopeless(`error recovery token lookahead limit exceeded: ${mostSkipped}`);
    if (this.#kind() === 'EOF') return;
    this.#index++;
    // What is unreadable before the next token is told now.
    this.#token(1);
  }

  #report(at: number, message: string): void {
    const many = this.#reported >= mostReported;
    this.#reported++;
    this.#tell(at, `Syntax error: ${many ? `More than ${mostReported} syntax errors` : message}`);
    if (many) throw new Stopped();
  }

  #complain(token: Token, message: string): void {
    if (this.#recovering) return;
    this.#recovering = true;
    this.#report(token.at, message);
  }

  #matched(): void {
    this.#recovering = false;
    this.#lastStates.clear();
    this.#lastIndex = -1;
  }

  /** Follows a rule; asks for what is found of the rules within, so that nesting takes no stack. */
  *#rule(rule: Rule, precedence: number, to: State | undefined): Following<Found> {
    const depth = (this.#depths.get(rule.name) ?? 0) + 1;
    this.#depths.set(rule.name, depth);
    if (depth > mostNested) throw new Hopeless(`expression recursion limit exceeded: ${mostNested}`);
    const outer = this.#frame;
    this.#frame = { to, outer };
    this.#state = rule.start;
    let found = newFound(rule.name, rule.name, this.#token(1));
    try {
      let way = 1;
      if (rule.choice !== undefined) {
        this.#enter(rule.choice);
        way = rule.simple ? this.#simpleChoice(rule) : this.#predict(rule.choice, precedence, false);
      }
      const alternative = rule.alternatives[way - 1]!;
      if (alternative.name !== rule.name) found = newFound(rule.name, alternative.name, found.start);
      for (const step of alternative.steps) yield* this.#step(step, found, precedence);
      const { suffixes } = rule;
      if (suffixes !== undefined) {
        this.#enter(suffixes.at);
        for (let count = 1; this.#predict(suffixes.at, precedence, true) === 1; count++) {
          if (count % rulesInStep === 0) yield;
          let which = 1;
          if (suffixes.choice !== undefined) {
            this.#enter(suffixes.choice);
            which = this.#predict(suffixes.choice, precedence, false);
          }
          const suffix = suffixes.alternatives[which - 1]!;
          const left = found;
          found = newFound(rule.name, suffix.name, left.start);
          found.parts.push(['left', left]);
          for (const step of suffix.steps) yield* this.#step(step, found, precedence);
          this.#enter(suffixes.again);
        }
      }
    } catch (error) {
      if (!(error instanceof Lost)) throw error;
      this.#complain(error.token, error.complaint);
      this.#recover();
    }
    this.#frame = outer;
    this.#depths.set(rule.name, depth - 1);
    return found;
  }

  *#step(step: Step, found: Found, precedence: number): Following<void> {
    switch (step.do) {
      case 'token': {
        this.#state = step.at;
        const token = this.#match(step.tokens);
        if (step.label !== '') found.tokens.push([step.label, token]);
        return;
      }
      case 'rule': {
        this.#state = step.at;
        const [way] = step.at.ways;
        const part: Found = yield { rule: step.rule, precedence: step.precedence, to: way?.to };
        if (step.label !== '') found.parts.push([step.label, part]);
        this.#state = step.at;
        return;
      }
      case 'optional':
        this.#enter(step.at);
        if (!expectedAt(step.first).tokens.has(this.#kind())) return;
        for (const inner of step.steps) yield* this.#step(inner, found, precedence);
        return;
      case 'repeat': {
        this.#enter(step.at);
        const goesOn = (): boolean =>
          step.looksAhead
            ? this.#predict(step.some ? step.again : step.at, precedence, false) === 1
            : expectedAt(step.first).tokens.has(this.#kind());
        let on = step.some || goesOn();
        while (on) {
          for (const inner of step.steps) yield* this.#step(inner, found, precedence);
          this.#enter(step.again);
          on = goesOn();
        }
      }
    }
  }

  #simpleChoice(rule: Rule): number {
    const kind = this.#kind();
    const way = rule.choice?.ways.findIndex(({ to }) => expectedAt(to).tokens.has(kind)) ?? -1;
    if (way < 0) throw this.#noWay(this.#token(1), this.#token(1));
    return way + 1;
  }

  #predict(from: State, precedence: number, loop: boolean): number {
    const prediction = predict(from, precedence, loop, this.#kindAhead);
    if (prediction.failedAt === undefined) return prediction.way;
    throw this.#noWay(this.#token(1), this.#token(prediction.failedAt));
  }

  #noWay(start: Token, offending: Token): Lost {
    const input = start.kind === 'EOF' ? '<EOF>' : this.#textOf(start, offending);
    const complaint = `no viable alternative at input ${shown(input)}`;
    return new Lost(complaint.replace(reservedAfterDot, "mismatched input '$1' expecting IDENTIFIER"), offending);
  }

  /** All between, but for what began no token. */
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

  #mismatch(): Lost {
    const token = this.#token(1);
    return new Lost(`mismatched input ${shown(token.text)} expecting ${listed(this.#expected(this.#state))}`, token);
  }

  #match(tokens: ReadonlySet<TokenKind>): Token {
    const token = this.#token(1);
    if (!tokens.has(token.kind)) return this.#matchOtherwise();
    this.#matched();
    this.#consume();
    return token;
  }

  #matchOtherwise(): Token {
    return this.#limited(() => {
      const deleted = this.#leaveOut();
      if (deleted !== undefined) {
        this.#consume();
        return deleted;
      }
      const [way] = this.#state.ways;
      const token = this.#token(1);
      if (way === undefined || !this.#expected(way.to).has(token.kind)) throw this.#mismatch();
      const expected = this.#expected(this.#state);
      this.#complain(token, `missing ${listed(expected)} at ${shown(token.text)}`);
      const kind = tokenKinds.find((name) => expected.has(name)) ?? 'EOF';
      const name = kind === 'EOF' ? 'EOF' : kind.startsWith("'") ? kind : 'undefined';
      const { at, end } = token.kind === 'EOF' && this.#index > 0 ? this.#token(0) : token;
      return { kind, text: `<missing ${name}>`, at, end };
    });
  }

  /** Leaves a token out if the one after it is expected; answers that. */
  #leaveOut(): Token | undefined {
    if (!this.#expected(this.#state).has(this.#kind(2))) return undefined;
    this.#unwanted();
    this.#consume();
    const matched = this.#token(1);
    this.#matched();
    return matched;
  }

  #unwanted(): void {
    const token = this.#token(1);
    this.#complain(token, `extraneous input ${shown(token.text)} expecting ${listed(this.#expected(this.#state))}`);
  }

  /** Comes to a state where what is next is looked at before anything is decided. */
  #enter(state: State): void {
    this.#state = state;
    if (this.#recovering) return;
    const { tokens, end } = expectedAt(state);
    if (end || tokens.has(this.#kind())) return;
    if (state.role === 'choice') {
      if (this.#leaveOut() === undefined) throw this.#mismatch();
    } else {
      this.#unwanted();
      this.#skipTo(new Set([...this.#expected(state), ...this.#followers()]));
    }
  }

  /** Tokens that may come at a state, also beyond the end of its rule. */
  #expected(state: State): ReadonlySet<TokenKind> {
    const here = expectedAt(state);
    if (!here.end) return here.tokens;
    const tokens = new Set(here.tokens);
    for (let frame = this.#frame; frame?.to !== undefined; frame = frame.outer) {
      const next = expectedAt(frame.to);
      for (const kind of next.tokens) tokens.add(kind);
      if (!next.end) return tokens;
    }
    return tokens.add('EOF');
  }

  /** Tokens that may follow any of the rules that are being followed. */
  #followers(): ReadonlySet<TokenKind> {
    const tokens = new Set<TokenKind>();
    for (let frame = this.#frame; frame?.to !== undefined; frame = frame.outer) {
      for (const kind of expectedAt(frame.to).tokens) tokens.add(kind);
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

  /** One attempt to go on; there are only so many, and each may skip only so many tokens. */
  #limited<T>(attempt: () => T): T {
    if (this.#recoveries++ === mostRecoveries) {
      this.#report(this.#token(1).at, `error recovery attempt limit exceeded: ${mostRecoveries}`);
      throw new Stopped();
    }
    this.#skips = mostSkipped;
    try {
      return attempt();
    } finally {
      this.#skips = Number.POSITIVE_INFINITY;
    }
  }
}

const reservedAfterDot = /no viable alternative at input '.(true|false|null)'/gu;

const newFound = (rule: string, name: string, start: Token): Found => ({
  rule,
  name,
  start,
  tokens: [],
  parts: [],
});

const shown = (text: string): string =>
  `'${text.replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}'`;

/** `'+'`, or `{'+', '-'}`. */
function listed(kinds: ReadonlySet<TokenKind>): string {
  const names = tokenKinds.filter((kind) => kinds.has(kind)).map((kind) => (kind === 'EOF' ? '<EOF>' : kind));
  return names.length === 1 ? (names[0] ?? '') : `{${names.join(', ')}}`;
}
