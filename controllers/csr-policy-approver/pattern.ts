/**
 * A pattern of names. `*` stands for any characters within a part, `**` for any characters; the separators of parts
 * depend on the kind of name. `{username}`, `{namespace}` and `{serviceaccount}` stand for exactly the requester's
 * names.
 */
export type Pattern = readonly Element[];

type Element = { readonly char: string } | { readonly run: 'part' | 'any' } | { readonly placeholder: Placeholder };

const placeholders = ['username', 'namespace', 'serviceaccount'] as const;
type Placeholder = (typeof placeholders)[number];

/** The values of placeholders; a pattern with a placeholder that has no value matches nothing. */
export type Placeholders = Readonly<Partial<Record<Placeholder, string>>>;

/** Parses a pattern. Throws an Error that describes what is wrong with it. */
export function parsePattern(text: string): Pattern {
  const elements: Element[] = [];
  for (let at = 0; at < text.length; ) {
    const remaining = text.slice(at);
    const placeholder = placeholders.find((name) => remaining.startsWith(`{${name}}`));
    if (placeholder !== undefined) {
      elements.push({ placeholder });
      at += placeholder.length + 2;
    } else if (remaining.startsWith('{') || remaining.startsWith('}')) {
      throw new Error(`${JSON.stringify(text)}: braces must contain one of ${placeholders.join(', ')}`);
    } else if (remaining.startsWith('***')) {
      throw new Error(`${JSON.stringify(text)}: only * and ** are wildcards`);
    } else if (remaining.startsWith('**')) {
      elements.push({ run: 'any' });
      at += 2;
    } else if (remaining.startsWith('*')) {
      elements.push({ run: 'part' });
      at += 1;
    } else {
      elements.push({ char: remaining.charAt(0) });
      at += 1;
    }
  }
  return elements;
}

export interface PatternOptions {
  /** The characters that separate parts; without any, `*` is equivalent to `**`. */
  readonly separators?: string;
  readonly substitutes?: Placeholders;
  /** Whether each `*` in the first part of the text may stand for any characters within the part. */
  readonly wildcards?: boolean;
  /** Returns the range of the text in which the case of ASCII letters does not matter. */
  readonly caseless?: (text: string) => readonly [start: number, end: number];
}

/**
 * Returns a function that tests whether a whole text matches. The possible positions in the pattern are the bits of one
 * number: each character takes a few operations on as many bits as the pattern has elements, regardless of the text
 * before it.
 */
export function matcher(pattern: Pattern, options: PatternOptions = {}): (text: string) => boolean {
  const { separators = '', substitutes = {}, wildcards = false, caseless } = options;
  const elements = substituted(pattern, substitutes);
  if (elements === undefined) return () => false;
  const { chars, runs, runsBeyondParts } = positionsIn(elements);
  const end = 1n << BigInt(elements.length);
  // A run may be empty.
  const opened = (places: bigint): bigint => places | ((places & runs) << 1n);
  const behind = (places: bigint, char: string, other: string): bigint => {
    const matching = (chars.get(char) ?? 0n) | (char === other ? 0n : (chars.get(other) ?? 0n));
    return opened((places & matching) << 1n) | opened(places & (separators.includes(char) ? runsBeyondParts : runs));
  };
  const inParts = [...chars].reduce((all, [char, at]) => (separators.includes(char) ? all : all | at), runs);
  // The addition carries each position through the adjacent positions after it, to the one behind them.
  const behindAny = (places: bigint): bigint => places | (((places & inParts) + inParts) ^ inParts);
  return (text) => {
    const firstPart = wildcards ? lengthOfFirst(text, separators) : 0;
    const [from, to] = caseless?.(text) ?? [0, 0];
    let places = opened(1n);
    for (let at = 0; at < text.length && places !== 0n; at++) {
      const char = text.charAt(at);
      const other = at >= from && at < to ? otherCase(char) : char;
      places = char === '*' && at < firstPart ? behindAny(places) : behind(places, char, other);
    }
    return (places & end) !== 0n;
  };
}

function lengthOfFirst(text: string, separators: string): number {
  for (let at = 0; at < text.length; at++) if (separators.includes(text.charAt(at))) return at;
  return text.length;
}

/**
 * Returns an ASCII letter in the other case, and other characters unchanged, because several may share a lower case.
 */
function otherCase(char: string): string {
  if (char >= 'a' && char <= 'z') return char.toUpperCase();
  return char >= 'A' && char <= 'Z' ? char.toLowerCase() : char;
}

interface CharacterPositions {
  /** The positions of each character. */
  readonly chars: ReadonlyMap<string, bigint>;
  readonly runs: bigint;
  readonly runsBeyondParts: bigint;
}

function positionsIn(elements: readonly ResolvedElement[]): CharacterPositions {
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

/** The maximum length of a placeholder's value; a longer one matches nothing. */
const longestSubstitute = 4_096;

type ResolvedElement = Exclude<Element, { readonly placeholder: Placeholder }>;

function substituted(pattern: Pattern, substitutes: Placeholders): readonly ResolvedElement[] | undefined {
  const elements: ResolvedElement[] = [];
  for (const element of pattern) {
    if (!('placeholder' in element)) {
      elements.push(element);
      continue;
    }
    const value = substitutes[element.placeholder];
    if (value === undefined || value === '' || value.length > longestSubstitute) return undefined;
    for (let at = 0; at < value.length; at++) elements.push({ char: value.charAt(at) });
  }
  return elements;
}
