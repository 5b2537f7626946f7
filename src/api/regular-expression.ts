import { createRequire } from 'node:module';
import { messageOf } from './message-of.js';
import { compiledSize, patternSize } from './pattern-size.js';
import { withKnownClasses } from './unicode-classes.js';

/**
 * A regular expression from a user, with the syntax and linear time of RE2. The package is loaded with the first pattern;
 * compiled patterns are cached, and the least recently used are evicted first.
 */
export interface RegularExpression {
  /** Whether any part of the text matches. */
  test(text: string): boolean;
  /** Returns the first part of the text that matches. */
  find(text: string): string | undefined;
  /**
   * Returns the successive parts that match, at most `most`; an empty one directly after another does not count. undefined
   * if it takes too long, which many matches may together although each of them does not.
   */
  findAll(text: string, most?: number): readonly string[] | undefined;
  /** Returns the maximum cost of matching, in instructions times characters; ten of them take about 150 ns. */
  cost(text: string): number;
}

/** The maximum cost of matching one text. A higher one would delay all other work, because matching cannot be interrupted. */
export const maxMatchingCost = 25_000_000;

export type Compiled =
  | { readonly expression: RegularExpression; readonly error?: undefined }
  | { readonly expression?: undefined; readonly error: string };

/** Limits for one pattern and for all cached ones, in instructions; each takes about 500 bytes and a microsecond of compiling. */
const maxInstructions = 10_000;
export const keptInstructions = 50_000;
const cache = new Map<string, { readonly compiled: Compiled; readonly size: number }>();
let keptSize = 0;

type Package = typeof import('re2js');
let loaded: Package | undefined;
const load = (): Package => {
  loaded ??= createRequire(import.meta.url)('re2js') as Package;
  return loaded;
};

const sizeOf = (pattern: string): number => Math.max(1, compiledSize(pattern), pattern.length / 10);

/** Returns the approximate time that `compile` will take, in microseconds; 0 for a cached pattern. */
export const compilingCost = (pattern: string): number =>
  cache.has(pattern) ? 0 : Math.min(sizeOf(pattern), maxInstructions);

/** Compiles a pattern, or returns Go's error (`error parsing regexp: ...`). The limit on instructions is lower than Go's. */
export function compile(pattern: string): Compiled {
  const known = cache.get(pattern);
  if (known !== undefined) {
    cache.delete(pattern);
    cache.set(pattern, known);
    return known.compiled;
  }
  const size = sizeOf(pattern);
  if (size > maxInstructions) return { error: 'error parsing regexp: expression too large' };
  const read = withKnownClasses(pattern);
  const parsed = parse(read.pattern, Math.max(1, patternSize(pattern), pattern.length / 10));
  const compiled = parsed.error === undefined ? parsed : { error: read.given(parsed.error) };
  cache.set(pattern, { compiled, size });
  keptSize += size;
  for (const [oldest, { size: freed }] of cache) {
    if (keptSize <= keptInstructions) break;
    cache.delete(oldest);
    keptSize -= freed;
  }
  return compiled;
}

function parse(pattern: string, size: number): Compiled {
  try {
    const expression = load().RE2JS.compile(pattern);
    return {
      expression: {
        test: (text) => expression.test(text),
        find: (text) => {
          const matcher = expression.matcher(text);
          return matcher.find() ? text.slice(matcher.start(), matcher.end()) : undefined;
        },
        findAll: (text, most = Number.POSITIVE_INFINITY) => {
          // A clock also counts the time in which this process did not run, so it is used only if it may be needed.
          const isShort = size * text.length * Math.min(most, text.length + 1) <= maxMatchingCost;
          return findAll(expression, text, most, isShort ? Number.POSITIVE_INFINITY : longestFinding);
        },
        cost: ({ length }) => size * length,
      },
    };
  } catch (cause) {
    const error = messageOf(cause);
    if (error.includes(': duplicate capture group name: ')) {
      const nameless = withoutNames(pattern);
      const again = parse(nameless, size);
      return again.error === undefined
        ? again
        : { error: again.error.replace(`\`${nameless}\``, () => `\`${pattern}\``) };
    }
    // Go's errors always quote the part that is invalid.
    return { error: error.endsWith('`') ? error : `${error}: \`\`` };
  }
}

/** Removes the names of groups, because Go allows duplicate ones; keeps quoted texts, escapes and classes. */
const withoutNames = (pattern: string): string =>
  pattern.replace(
    /(\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|\[:\^?\w{1,10}:\]|[^\]])*\]?)|\(\?P?<\w+>/gs,
    (_, unchanged: string | undefined) => unchanged ?? '(',
  );

/** The time after which the search for more matches is abandoned, in milliseconds. */
const longestFinding = 100;

function findAll(
  expression: ReturnType<Package['RE2JS']['compile']>,
  text: string,
  most: number,
  longestMs: number,
): string[] | undefined {
  const matcher = expression.matcher(text);
  const found: string[] = [];
  const start = performance.now();
  let previousEnd = -1;
  while (found.length < most && matcher.find()) {
    const [from, to] = [matcher.start(), matcher.end()];
    if (from < to || from !== previousEnd) found.push(text.slice(from, to));
    previousEnd = to;
    if (performance.now() - start > longestMs) return undefined;
  }
  return found;
}
