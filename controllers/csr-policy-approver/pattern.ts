/**
 * Patterns of names. `*` stands for any run of characters within a part, `**` for any run at all; what separates parts
 * depends on the kind of name. `{username}`, `{namespace}` and `{serviceaccount}` stand for what the requester is
 * called, to the letter.
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

export interface Matching {
  /** Each of these characters ends a part; without any, `*` is as good as `**`. */
  readonly separators?: string;
  readonly substitutes?: Substitutes;
  /** Does a text that begins with a part `*` match as soon as one does that begins with some other part? */
  readonly wildcards?: boolean;
}

/**
 * Tells of whole texts whether they match. All places in the pattern at which a text can be are the bits of one number: a
 * character takes some operations on as many bits as the pattern has elements, whatever was before it.
 */
export function matcher(pattern: Pattern, given: Matching = {}): (text: string) => boolean {
  const { separators = '', substitutes = {}, wildcards = false } = given;
  const elements = substituted(pattern, substitutes);
  if (elements === undefined) return () => false;
  const { chars, runs, runsBeyondParts } = placesIn(elements);
  const end = 1n << BigInt(elements.length);
  // A run may be empty.
  const opened = (places: bigint): bigint => places | ((places & runs) << 1n);
  const behind = (places: bigint, char: string): bigint => {
    const staying = places & (separators.includes(char) ? runsBeyondParts : runs);
    return opened((places & (chars.get(char) ?? 0n)) << 1n) | opened(staying);
  };
  const behindAnyPart = (places: bigint): bigint => {
    const inParts = [...chars].reduce((all, [char, at]) => (separators.includes(char) ? all : all | at), 0n);
    for (let reached = places; ; places = reached) {
      reached = places | opened((places & inParts) << 1n);
      if (reached === places) return places;
    }
  };
  return (text) => {
    const isWild = wildcards && text.startsWith('*') && (text.length === 1 || separators.includes(text.charAt(1)));
    let places = isWild ? behindAnyPart(opened(1n)) : opened(1n);
    for (let at = isWild ? 1 : 0; at < text.length && places !== 0n; at++) places = behind(places, text.charAt(at));
    return (places & end) !== 0n;
  };
}

interface Places {
  /** Where each character stands. */
  readonly chars: ReadonlyMap<string, bigint>;
  readonly runs: bigint;
  readonly runsBeyondParts: bigint;
}

function placesIn(elements: readonly Simple[]): Places {
  const chars = new Map<string, bigint>();
  let [runs, runsBeyondParts] = [0n, 0n];
  for (const [at, element] of elements.entries()) {
    const place = 1n << BigInt(at);
    if ('char' in element) chars.set(element.char, (chars.get(element.char) ?? 0n) | place);
    else {
      runs |= place;
      if (element.run === 'any') runsBeyondParts |= place;
    }
  }
  return { chars, runs, runsBeyondParts };
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
