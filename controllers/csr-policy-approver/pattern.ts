/**
 * Patterns of names. `*` stands for any run of characters within a part, `**` for any run at all; what separates parts
 * depends on the kind of name. `{username}`, `{namespace}` and `{serviceaccount}` stand for what the requester is
 * called, to the letter. Matching takes time linear in the text.
 */
export type Pattern = readonly Element[];

type Element = { readonly char: string } | { readonly run: 'part' | 'any' } | { readonly placeholder: Placeholder };

const placeholders = ['username', 'namespace', 'serviceaccount'] as const;
export type Placeholder = (typeof placeholders)[number];

/** What placeholders stand for; a pattern with one that is absent matches nothing. */
export type Substitutes = Readonly<Partial<Record<Placeholder, string>>>;

/** Throws an Error that says what is wrong with the pattern. */
export function parsePattern(text: string): Pattern {
  const elements: Element[] = [];
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at);
    const placeholder = placeholders.find((name) => rest.startsWith(`{${name}}`));
    if (placeholder !== undefined) {
      elements.push({ placeholder });
      at += placeholder.length + 2;
    } else if (rest.startsWith('{') || rest.startsWith('}')) {
      throw new Error(`${JSON.stringify(text)}: braces hold one of ${placeholders.join(', ')}`);
    } else if (rest.startsWith('***')) {
      throw new Error(`${JSON.stringify(text)}: * and ** are known, no longer runs`);
    } else if (rest.startsWith('**')) {
      elements.push({ run: 'any' });
      at += 2;
    } else if (rest.startsWith('*')) {
      elements.push({ run: 'part' });
      at += 1;
    } else {
      elements.push({ char: rest.charAt(0) });
      at += 1;
    }
  }
  return elements;
}

/** Does the whole text match? Each character of `separators` ends a part; without any `*` is as good as `**`. */
export function matches(
  pattern: Pattern,
  text: string,
  given: { readonly separators?: string; readonly substitutes?: Substitutes } = {},
): boolean {
  const { separators = '', substitutes = {} } = given;
  const elements = substituted(pattern, substitutes);
  if (elements === undefined) return false;
  let states = withEmptyRuns([0], elements);
  for (let at = 0; at < text.length && states.length > 0; at++) {
    const char = text.charAt(at);
    const next: number[] = [];
    for (const state of states) {
      const element = elements[state];
      if (element === undefined) continue;
      if ('char' in element) {
        if (element.char === char) next.push(state + 1);
      } else if (element.run === 'any' || !separators.includes(char)) next.push(state);
    }
    states = withEmptyRuns(next, elements);
  }
  return states.includes(elements.length);
}

type Simple = Exclude<Element, { readonly placeholder: Placeholder }>;

function substituted(pattern: Pattern, substitutes: Substitutes): readonly Simple[] | undefined {
  const elements: Simple[] = [];
  for (const element of pattern) {
    if (!('placeholder' in element)) {
      elements.push(element);
      continue;
    }
    const value = substitutes[element.placeholder];
    if (value === undefined || value === '') return undefined;
    for (let at = 0; at < value.length; at++) elements.push({ char: value.charAt(at) });
  }
  return elements;
}

/** The states and those reached by taking runs for empty, each once. */
function withEmptyRuns(states: readonly number[], elements: readonly Simple[]): number[] {
  const all: number[] = [];
  for (const from of states) {
    for (let state = from; !all.includes(state); state++) {
      all.push(state);
      const element = elements[state];
      if (element === undefined || 'char' in element) break;
    }
  }
  return all;
}
