import type { TokenKind } from '../lexer.js';
import type { State, Way } from './grammar.js';

/** Where to go on when the rules that are being followed end; undefined: wherever the rule may have been called. */
interface Stack {
  readonly id: number;
  readonly to: State;
  readonly below: Stack | undefined;
}

/** Each is made once. */
const stacks = new Map<string, Stack>();

function pushed(to: State, below: Stack | undefined): Stack {
  const key = `${to.id} ${below?.id ?? ''}`;
  const known = stacks.get(key);
  if (known !== undefined) return known;
  const made = { id: stacks.size, to, below };
  stacks.set(key, made);
  return made;
}

/** A place that a way leads to, counted from 1 in the order of the ways from where one is chosen. */
interface Place {
  readonly state: State;
  readonly way: number;
  readonly stack: Stack | undefined;
  /** Did it go beyond the rule in which the way is chosen? */
  readonly outside: boolean;
  /** Did it leave that rule where it was called without a precedence? */
  readonly outermost: boolean;
}

/** The way to go; or how far ahead the text stopped fitting any. */
export type Prediction = { readonly way: number; readonly failedAt?: undefined } | { readonly failedAt: number };

/** What is known after some tokens, without knowing who called the rule. */
interface Outlook {
  readonly places: readonly Place[];
  /** The only way that is left, or the first of several that nothing can tell apart; 0: more tokens will tell. */
  readonly way: number;
  readonly next: Map<TokenKind, Outlook | undefined>;
}

/** Outlooks that are kept; each has up to hundreds of places. */
const mostOutlooks = 2_000;
const kept = new Map<string, Outlook>();

/** Chooses a way as cel-go's parser does: by as many of the next tokens as it takes. */
export function predict(
  from: State,
  precedence: number,
  loop: boolean,
  kind: (ahead: number) => TokenKind,
): Prediction {
  let outlook: Outlook = startingOutlook(from, precedence, loop);
  for (let ahead = 1; ; ahead++) {
    const next = outlookAfter(outlook, kind(ahead));
    if (next === undefined) {
      const way = endedWay(outlook.places);
      return way === 0 ? { failedAt: ahead } : { way };
    }
    if (next.way !== 0) return { way: next.way };
    outlook = next;
  }
}

const starts = new Map<State, Map<number, Outlook>>();

/** Of the state where a way is chosen, within a rule whose operators have at least this precedence. */
function startingOutlook(from: State, precedence: number, loop: boolean): Outlook {
  const known = starts.get(from) ?? new Map<number, Outlook>();
  starts.set(from, known);
  const before = known.get(precedence);
  if (before !== undefined) return before;
  const found = new Places();
  const start: Spread = { precedence, end: false, loopRule: loop ? from.rule : undefined };
  const seen = new Set<string>();
  from.ways.forEach((way, index) => {
    spread({ state: way.to, way: index + 1, stack: undefined, outside: false, outermost: false }, found, seen, start);
  });
  const places = loop ? withoutOuterOperators(found.list) : found.list;
  const outlook = { places, way: 0, next: new Map() };
  known.set(precedence, outlook);
  return outlook;
}

function outlookAfter(before: Outlook, kind: TokenKind): Outlook | undefined {
  if (before.next.has(kind)) return before.next.get(kind);
  const places = placesAfter(before.places, kind);
  const outlook = places.length === 0 ? undefined : outlookOf(places);
  before.next.set(kind, outlook);
  return outlook;
}

function outlookOf(places: readonly Place[]): Outlook {
  const key = places
    .map(({ state, way, stack, outside }) => `${state.id} ${way} ${stack?.id ?? ''} ${outside}`)
    .sort()
    .join();
  const known = kept.get(key);
  if (known !== undefined) return known;
  if (kept.size >= mostOutlooks) {
    starts.clear();
    kept.clear();
  }
  const way = onlyWay(places) || (isConflict(places) ? Math.min(...places.map((place) => place.way)) : 0);
  const outlook: Outlook = { places, way, next: new Map() };
  kept.set(key, outlook);
  return outlook;
}

function placesAfter(places: readonly Place[], kind: TokenKind): readonly Place[] {
  const moved = new Places();
  const ended: Place[] = [];
  for (const place of places) {
    if (place.state.role === 'rule end' && kind === 'EOF') ended.push(place);
    for (const way of place.state.ways) {
      if (way.kind === 'token' && way.tokens.has(kind)) moved.add({ ...place, state: way.to });
    }
  }
  if (kind !== 'EOF' && onlyWay(moved.list) !== 0) return moved.list;
  const found = new Places();
  const seen = new Set<string>();
  for (const place of moved.list) {
    spread(place, found, seen, { precedence: undefined, end: kind === 'EOF', loopRule: undefined });
  }
  if (kind !== 'EOF') return found.list;
  return [...found.list.filter(({ state }) => state.role === 'rule end'), ...ended];
}

interface Spread {
  /** Operators must have at least this one in the rule where the way is chosen; undefined: any. */
  readonly precedence: number | undefined;
  /** The text has ended: its end may be passed again. */
  readonly end: boolean;
  /** The rule in which it is being decided whether an operator follows. */
  readonly loopRule: string | undefined;
}

/** Follows all ways that take no token. */
function spread(from: Place, found: Places, seen: Set<string>, start: Spread): void {
  const waiting: { readonly place: Place; readonly depth: number }[] = [{ place: from, depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { place, depth } = next;
    const { state, stack } = place;
    if (state.role === 'rule end' && stack !== undefined) {
      waiting.push({ place: { ...place, state: stack.to, stack: stack.below }, depth });
      continue;
    }
    if (state.ways.length === 0 || state.ways.some(({ kind }) => kind === 'token')) found.add(place);
    for (const way of state.ways) {
      const led = follow(place, way, depth, start);
      if (led === undefined) continue;
      if (way.kind === 'return' || way.kind === 'token') {
        const key = `${led.state.id} ${led.way} ${led.stack?.id ?? ''}`;
        if (seen.has(key)) continue;
        seen.add(key);
      }
      const step = way.kind === 'return' ? -1 : way.kind === 'rule' && depth >= 0 ? 1 : 0;
      waiting.push({ place: led, depth: depth + step });
    }
  }
}

/** `depth`: rules entered, less rules left. */
function follow(place: Place, way: Way, depth: number, start: Spread): Place | undefined {
  switch (way.kind) {
    case 'free':
      return { ...place, state: way.to };
    case 'return': {
      const outermost = place.outermost || (way.outermost && place.state.rule === start.loopRule);
      return { ...place, state: way.to, outside: true, outermost };
    }
    case 'rule':
      return { ...place, state: way.rule.start, stack: pushed(way.to, place.stack) };
    case 'precedence':
      if (start.precedence !== undefined && depth === 0 && way.precedence < start.precedence) return undefined;
      return { ...place, state: way.to };
    case 'token':
      return start.end && way.tokens.has('EOF') ? { ...place, state: way.to } : undefined;
  }
}

/** Places, each once. */
class Places {
  readonly list: Place[] = [];
  readonly #at = new Map<string, number>();

  add(place: Place): void {
    const key = `${place.state.id} ${place.way} ${place.stack?.id ?? ''}`;
    const index = this.#at.get(key);
    const known = index === undefined ? undefined : this.list[index];
    if (index === undefined || known === undefined) {
      this.#at.set(key, this.list.length);
      this.list.push(place);
    } else if ((place.outside && !known.outside) || (place.outermost && !known.outermost)) {
      const outermost = known.outermost || place.outermost;
      this.list[index] = { ...known, outside: known.outside || place.outside, outermost };
    }
  }
}

function onlyWay(places: readonly Place[]): number {
  const [first] = places;
  return first !== undefined && places.every(({ way }) => way === first.way) ? first.way : 0;
}

/** The first way that led to the end of the rule in which it is chosen; 0 if none did. */
function endedWay(places: readonly Place[]): number {
  const ways = places
    .filter(({ state, stack, outside }) => outside || (state.role === 'rule end' && stack === undefined))
    .map(({ way }) => way);
  return ways.length === 0 ? 0 : Math.min(...ways);
}

/**
 * The stacks of each state and way as one text. Where nothing is known about the callers, anything may be: a stack that
 * others begin with stands for them.
 */
function stacksByPlace(places: readonly Place[]): Map<string, { state: State; way: number; stacks: string }> {
  const groups = new Map<string, { state: State; way: number; texts: string[] }>();
  for (const { state, way, stack } of places) {
    const key = `${state.id} ${way}`;
    const group = groups.get(key) ?? { state, way, texts: [] };
    groups.set(key, group);
    let text = '';
    for (let inner = stack; inner !== undefined; inner = inner.below) text += `${inner.to.id},`;
    group.texts.push(text);
  }
  return new Map(
    [...groups].map(([key, { state, way, texts }]) => {
      const least: string[] = [];
      for (const text of texts.sort()) {
        const last = least.at(-1);
        if (last === undefined || !text.startsWith(last)) least.push(text);
      }
      return [key, { state, way, stacks: least.join('|') }];
    }),
  );
}

/** Can nothing that follows tell the ways apart, as far as is known? */
function isConflict(places: readonly Place[]): boolean {
  if (places.every(({ state }) => state.role === 'rule end')) return true;
  const together = [...stacksByPlace(places).values()].map(({ state, stacks: text }) => `${state.id} ${text}`);
  if (new Set(together).size === together.length) return false;
  const byState = new Map<number, Set<number>>();
  for (const { state, way } of places) {
    const ways = byState.get(state.id) ?? new Set();
    byState.set(state.id, ways.add(way));
  }
  return [...byState.values()].every((ways) => ways.size > 1);
}

/** An operator that can be taken here is not left to a caller. */
function withoutOuterOperators(places: readonly Place[]): readonly Place[] {
  const groups = stacksByPlace(places);
  const groupOf = ({ state }: Place, way: number): string | undefined => groups.get(`${state.id} ${way}`)?.stacks;
  const suppressed = new Set(places.filter(({ outermost }) => outermost).map(({ state, way }) => `${state.id} ${way}`));
  return places.filter((place) => {
    if (place.way === 1 || suppressed.has(`${place.state.id} ${place.way}`)) return true;
    const own = groupOf(place, 1);
    return own === undefined || own !== groupOf(place, place.way);
  });
}
