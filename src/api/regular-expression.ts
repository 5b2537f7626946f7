import { createRequire } from 'node:module';
import { messageOf } from './message-of.js';
import { compiledSize, patternSize } from './pattern-size.js';
import { withKnownClasses } from './unicode-classes.js';

/**
 * Regular expressions from users: RE2's syntax and its linear time. The package is loaded with the first pattern;
 * compiled patterns are kept, the least recently used are forgotten first.
 */
export interface RegularExpression {
  /** Does any part of the text match? */
  test(text: string): boolean;
  /** The first part of the text that matches. */
  find(text: string): string | undefined;
  /**
   * The parts that match, one behind the other, at most so many; an empty one right behind another does not count.
   * undefined: it takes too long, which one match after the other may though each of them does not.
   */
  findAll(text: string, most?: number): readonly string[] | undefined;
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

const sizeOf = (pattern: string): number => Math.max(1, compiledSize(pattern), pattern.length / 10);

/** Microseconds, about, that `compile` will take: of a pattern that is kept, none. */
export const compilingCost = (pattern: string): number =>
  cache.has(pattern) ? 0 : Math.min(sizeOf(pattern), maxInstructions);

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
  const size = sizeOf(pattern);
  if (size > maxInstructions) return { error: 'error parsing regexp: expression too large' };
  const read = withKnownClasses(pattern);
  const parsed = parse(read.pattern, Math.max(1, patternSize(pattern), pattern.length / 10));
  const compiled = parsed.error === undefined ? parsed : { error: read.given(parsed.error) };
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
    return {
      expression: {
        test: (text) => expression.test(text),
        find: (text) => {
          const matcher = expression.matcher(text);
          return matcher.find() ? text.slice(matcher.start(), matcher.end()) : undefined;
        },
        findAll: (text, most = Number.POSITIVE_INFINITY) => findAll(expression, text, most),
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
    // Go always quotes what it complains about.
    return { error: error.endsWith('`') ? error : `${error}: \`\`` };
  }
}

/** Quoted texts, escapes and classes as they are; groups lose their names, of which Go takes two alike. */
const withoutNames = (pattern: string): string =>
  pattern.replace(
    /(\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|\[:\^?\w{1,10}:\]|[^\]])*\]?)|\(\?P?<\w+>/gs,
    (_, kept: string | undefined) => kept ?? '(',
  );

/** Milliseconds, after which looking for more matches is given up. */
const longestFinding = 100;

function findAll(
  expression: ReturnType<Package['RE2JS']['compile']>,
  text: string,
  most: number,
): string[] | undefined {
  const matcher = expression.matcher(text);
  const found: string[] = [];
  const start = performance.now();
  let previousEnd = -1;
  while (found.length < most && matcher.find()) {
    const [from, to] = [matcher.start(), matcher.end()];
    if (from < to || from !== previousEnd) found.push(text.slice(from, to));
    previousEnd = to;
    if (performance.now() - start > longestFinding) return undefined;
  }
  return found;
}
