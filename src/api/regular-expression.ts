import { createRequire } from 'node:module';
import { patternSize } from './pattern-size.js';

/**
 * Regular expressions from users: RE2's syntax and its linear time. The package is loaded with the first pattern;
 * compiled patterns are kept, the least recently used are forgotten first.
 */
export interface RegularExpression {
  /** Does any part of the text match? */
  test(text: string): boolean;
  /** The most that matching can cost, in instructions and characters: ten of them take about 150 ns. */
  cost(text: string): number;
}

/** A text that costs more, together with the pattern, would keep everybody else waiting: nothing can come in between. */
export const maxMatchingCost = 25_000_000;

export type Compiled =
  | { readonly expression: RegularExpression; readonly error?: undefined }
  | { readonly expression?: undefined; readonly error: string };

/** Of one pattern, and of all that are kept; in instructions, each about 500 bytes and a microsecond of compiling. */
const maxInstructions = 10_000;
export const keptInstructions = 50_000;
const cache = new Map<string, { readonly compiled: Compiled; readonly size: number }>();
let kept = 0;

type Package = typeof import('re2js');
let loaded: Package | undefined;
const load = (): Package => {
  loaded ??= createRequire(import.meta.url)('re2js') as Package;
  return loaded;
};

/**
 * A pattern, or what is wrong with it in Go's words (`error parsing regexp: ...`). Patterns may have fewer instructions
 * than in Go.
 */
export function compile(pattern: string): Compiled {
  const known = cache.get(pattern);
  if (known !== undefined) {
    cache.delete(pattern);
    cache.set(pattern, known);
    return known.compiled;
  }
  const size = Math.max(1, patternSize(pattern), pattern.length / 10);
  if (size > maxInstructions) return { error: 'error parsing regexp: expression too large' };
  const compiled = parse(pattern, size);
  cache.set(pattern, { compiled, size });
  kept += size;
  for (const [oldest, { size: freed }] of cache) {
    if (kept <= keptInstructions) break;
    cache.delete(oldest);
    kept -= freed;
  }
  return compiled;
}

function parse(pattern: string, size: number): Compiled {
  try {
    const expression = load().RE2JS.compile(pattern);
    return { expression: { test: (text) => expression.test(text), cost: ({ length }) => size * length } };
  } catch (cause) {
    return { error: cause instanceof Error ? cause.message : String(cause) };
  }
}
