import type { TokenKind } from '../lexer.js';
import type { State, Transition } from './grammar.js';

/** The states to continue in when the entered rules end; undefined: wherever the rule can have been called. */
interface Stack {
  readonly id: number;
  readonly to: State;
  readonly below: Stack | undefined;
}

/** The stacks that exist, so that equal stacks are the same object. */
const stacks = new Map<string, Stack>();

function pushed(to: State, below: Stack | undefined): Stack {
  const key = `${to.id} ${below?.id ?? ''}`;
  const known = stacks.get(key);
  if (known !== undefined) return known;
  const stack = { id: stacks.size, to, below };
  stacks.set(key, stack);
  return stack;
}

/** A state of the grammar that one of the alternatives, counted from 1, may have come to. */
interface Configuration {
  readonly state: State;
  readonly alternative: number;
  readonly stack: Stack | undefined;
  /** Whether it has left the rule in which the alternative is chosen. */
  readonly outside: boolean;
  /** Whether it has left that rule where the rule was called without a precedence. */
  readonly outermost: boolean;
}

/**
 * The number of the chosen alternative, from 1; or the number of tokens ahead at which the text stopped fitting any of
 * them.
 */
export type Prediction =
  | { readonly alternative: number; readonly failedAt?: undefined }
  | { readonly failedAt: number };

/**
 * The configurations that are possible after some tokens, whatever called the rule (a state of ANTLR's lookahead DFA).
 */
interface DfaState {
  readonly configurations: readonly Configuration[];
  /** The only alternative left, or the first of several that no token can distinguish; 0 if more tokens are needed. */
  readonly alternative: number;
  readonly next: Map<TokenKind, DfaState | undefined>;
}

/** The number of states that are cached; each has up to hundreds of configurations. */
const maxDfaStates = 2_000;
const dfaStates = new Map<string, DfaState>();

/**
 * Chooses an alternative as cel-go's parser does (ANTLR's adaptive LL(*)), using as many of the next tokens as needed.
 */
export function predict(
  from: State,
  precedence: number,
  loop: boolean,
  kind: (ahead: number) => TokenKind,
): Prediction {
  let state: DfaState = startState(from, precedence, loop);
  for (let ahead = 1; ; ahead++) {
    const next = stateAfter(state, kind(ahead));
    if (next === undefined) {
      const alternative = endedAlternative(state.configurations);
      return alternative === 0 ? { failedAt: ahead } : { alternative };
    }
    if (next.alternative !== 0) return { alternative: next.alternative };
    state = next;
  }
}

const starts = new Map<State, Map<number, DfaState>>();

/** Returns the state before the first token, in a rule whose operators have at least this precedence. */
function startState(from: State, precedence: number, loop: boolean): DfaState {
  const known = starts.get(from) ?? new Map<number, DfaState>();
  starts.set(from, known);
  const before = known.get(precedence);
  if (before !== undefined) return before;
  const found = new ConfigurationSet();
  const start: ClosureOptions = { precedence, end: false, loopRule: loop ? from.rule : undefined };
  const seen = new Set<string>();
  from.transitions.forEach((transition, index) => {
    closure(
      { state: transition.to, alternative: index + 1, stack: undefined, outside: false, outermost: false },
      found,
      seen,
      start,
    );
  });
  const configurations = loop ? withoutOuterOperators(found.list) : found.list;
  const state = { configurations, alternative: 0, next: new Map() };
  known.set(precedence, state);
  return state;
}

function stateAfter(before: DfaState, kind: TokenKind): DfaState | undefined {
  if (before.next.has(kind)) return before.next.get(kind);
  const configurations = reachSet(before.configurations, kind);
  const state = configurations.length === 0 ? undefined : stateOf(configurations);
  before.next.set(kind, state);
  return state;
}

function stateOf(configurations: readonly Configuration[]): DfaState {
  const key = configurations
    .map(({ state, alternative, stack, outside }) => `${state.id} ${alternative} ${stack?.id ?? ''} ${outside}`)
    .sort()
    .join();
  const known = dfaStates.get(key);
  if (known !== undefined) return known;
  if (dfaStates.size >= maxDfaStates) {
    starts.clear();
    dfaStates.clear();
  }
  const alternative =
    onlyAlternative(configurations) ||
    (isConflict(configurations) ? Math.min(...configurations.map((configuration) => configuration.alternative)) : 0);
  const state: DfaState = { configurations, alternative, next: new Map() };
  dfaStates.set(key, state);
  return state;
}

function reachSet(configurations: readonly Configuration[], kind: TokenKind): readonly Configuration[] {
  const moved = new ConfigurationSet();
  const ended: Configuration[] = [];
  for (const configuration of configurations) {
    if (configuration.state.role === 'rule end' && kind === 'EOF') ended.push(configuration);
    for (const transition of configuration.state.transitions) {
      if (transition.kind === 'token' && transition.tokens.has(kind))
        moved.add({ ...configuration, state: transition.to });
    }
  }
  if (kind !== 'EOF' && onlyAlternative(moved.list) !== 0) return moved.list;
  const found = new ConfigurationSet();
  const seen = new Set<string>();
  for (const configuration of moved.list) {
    closure(configuration, found, seen, { precedence: undefined, end: kind === 'EOF', loopRule: undefined });
  }
  if (kind !== 'EOF') return found.list;
  return [...found.list.filter(({ state }) => state.role === 'rule end'), ...ended];
}

interface ClosureOptions {
  /** The minimum precedence of operators in the rule where the alternative is chosen; undefined for any. */
  readonly precedence: number | undefined;
  /** Whether the text has ended. The end can then be matched again. */
  readonly end: boolean;
  /** The rule in which the parser decides whether an operator follows. */
  readonly loopRule: string | undefined;
}

/** Adds the configurations that are reached without a token. */
function closure(from: Configuration, found: ConfigurationSet, seen: Set<string>, start: ClosureOptions): void {
  const waiting: { readonly configuration: Configuration; readonly depth: number }[] = [
    { configuration: from, depth: 0 },
  ];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { configuration, depth } = next;
    const { state, stack } = configuration;
    if (state.role === 'rule end' && stack !== undefined) {
      waiting.push({ configuration: { ...configuration, state: stack.to, stack: stack.below }, depth });
      continue;
    }
    if (state.transitions.length === 0 || state.transitions.some(({ kind }) => kind === 'token'))
      found.add(configuration);
    for (const transition of state.transitions) {
      const reached = follow(configuration, transition, depth, start);
      if (reached === undefined) continue;
      if (transition.kind === 'return' || transition.kind === 'token') {
        const key = `${reached.state.id} ${reached.alternative} ${reached.stack?.id ?? ''}`;
        if (seen.has(key)) continue;
        seen.add(key);
      }
      const step = transition.kind === 'return' ? -1 : transition.kind === 'rule' && depth >= 0 ? 1 : 0;
      waiting.push({ configuration: reached, depth: depth + step });
    }
  }
}

/** Follows one transition. `depth` is the number of rules entered minus rules left. */
function follow(
  configuration: Configuration,
  transition: Transition,
  depth: number,
  start: ClosureOptions,
): Configuration | undefined {
  switch (transition.kind) {
    case 'epsilon':
      return { ...configuration, state: transition.to };
    case 'return': {
      const outermost =
        configuration.outermost || (transition.outermost && configuration.state.rule === start.loopRule);
      return { ...configuration, state: transition.to, outside: true, outermost };
    }
    case 'rule':
      return { ...configuration, state: transition.rule.start, stack: pushed(transition.to, configuration.stack) };
    case 'precedence':
      if (start.precedence !== undefined && depth === 0 && transition.precedence < start.precedence) return undefined;
      return { ...configuration, state: transition.to };
    case 'token':
      return start.end && transition.tokens.has('EOF') ? { ...configuration, state: transition.to } : undefined;
  }
}

/** A set of configurations without duplicates. */
class ConfigurationSet {
  readonly list: Configuration[] = [];
  readonly #at = new Map<string, number>();

  add(configuration: Configuration): void {
    const key = `${configuration.state.id} ${configuration.alternative} ${configuration.stack?.id ?? ''}`;
    const index = this.#at.get(key);
    const known = index === undefined ? undefined : this.list[index];
    if (index === undefined || known === undefined) {
      this.#at.set(key, this.list.length);
      this.list.push(configuration);
    } else if ((configuration.outside && !known.outside) || (configuration.outermost && !known.outermost)) {
      const outermost = known.outermost || configuration.outermost;
      this.list[index] = { ...known, outside: known.outside || configuration.outside, outermost };
    }
  }
}

function onlyAlternative(configurations: readonly Configuration[]): number {
  const [first] = configurations;
  return first !== undefined && configurations.every(({ alternative }) => alternative === first.alternative)
    ? first.alternative
    : 0;
}

/** Returns the first alternative that reached the end of the rule in which it is chosen; 0 if none did. */
function endedAlternative(configurations: readonly Configuration[]): number {
  const alternatives = configurations
    .filter(({ state, stack, outside }) => outside || (state.role === 'rule end' && stack === undefined))
    .map(({ alternative }) => alternative);
  return alternatives.length === 0 ? 0 : Math.min(...alternatives);
}

/**
 * Returns the stacks of each state and alternative as one text. The callers below a stack are unknown, so a stack that
 * is a prefix of others stands for them.
 */
function stacksByConfiguration(
  configurations: readonly Configuration[],
): Map<string, { state: State; alternative: number; stacks: string }> {
  const groups = new Map<string, { state: State; alternative: number; texts: string[] }>();
  for (const { state, alternative, stack } of configurations) {
    const key = `${state.id} ${alternative}`;
    const group = groups.get(key) ?? { state, alternative, texts: [] };
    groups.set(key, group);
    let text = '';
    for (let inner = stack; inner !== undefined; inner = inner.below) text += `${inner.to.id},`;
    group.texts.push(text);
  }
  return new Map(
    [...groups].map(([key, { state, alternative, texts }]) => {
      const least: string[] = [];
      for (const text of texts.sort()) {
        const last = least.at(-1);
        if (last === undefined || !text.startsWith(last)) least.push(text);
      }
      return [key, { state, alternative, stacks: least.join('|') }];
    }),
  );
}

/** Whether no further token can tell the alternatives apart. */
function isConflict(configurations: readonly Configuration[]): boolean {
  if (configurations.every(({ state }) => state.role === 'rule end')) return true;
  const together = [...stacksByConfiguration(configurations).values()].map(
    ({ state, stacks: text }) => `${state.id} ${text}`,
  );
  if (new Set(together).size === together.length) return false;
  const byState = new Map<number, Set<number>>();
  for (const { state, alternative } of configurations) {
    const alternatives = byState.get(state.id) ?? new Set();
    byState.set(state.id, alternatives.add(alternative));
  }
  return [...byState.values()].every((alternatives) => alternatives.size > 1);
}

/** Drops configurations that leave an operator to a caller although it can be taken here. */
function withoutOuterOperators(configurations: readonly Configuration[]): readonly Configuration[] {
  const groups = stacksByConfiguration(configurations);
  const groupOf = ({ state }: Configuration, alternative: number): string | undefined =>
    groups.get(`${state.id} ${alternative}`)?.stacks;
  const suppressed = new Set(
    configurations.filter(({ outermost }) => outermost).map(({ state, alternative }) => `${state.id} ${alternative}`),
  );
  return configurations.filter((configuration) => {
    if (configuration.alternative === 1 || suppressed.has(`${configuration.state.id} ${configuration.alternative}`))
      return true;
    const own = groupOf(configuration, 1);
    return own === undefined || own !== groupOf(configuration, configuration.alternative);
  });
}
