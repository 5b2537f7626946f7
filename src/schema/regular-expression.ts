import { createRequire } from 'node:module';

/**
 * Regular expressions from users: RE2's syntax and its linear time. The package is loaded with the first pattern;
 * compiled patterns are kept, the least recently used are forgotten first.
 */
export interface RegularExpression {
  /** Does any part of the text match? */
  test(text: string): boolean;
}

export type Compiled =
  | { readonly expression: RegularExpression; readonly error?: undefined }
  | { readonly expression?: undefined; readonly error: string };

const kept = 1_000;
const cache = new Map<string, Compiled>();

type Package = typeof import('re2js');
let loaded: Package | undefined;
const load = (): Package => {
  loaded ??= createRequire(import.meta.url)('re2js') as Package;
  return loaded;
};

/** A pattern, or what is wrong with it in Go's words (`error parsing regexp: ...`). */
export function compile(pattern: string): Compiled {
  const known = cache.get(pattern);
  if (known !== undefined) {
    cache.delete(pattern);
    cache.set(pattern, known);
    return known;
  }
  const compiled = parse(pattern);
  if (cache.size >= kept) {
    const [oldest] = cache.keys();
    if (oldest !== undefined) cache.delete(oldest);
  }
  cache.set(pattern, compiled);
  return compiled;
}

function parse(pattern: string): Compiled {
  try {
    const expression = load().RE2JS.compile(pattern);
    return { expression: { test: (text) => expression.test(text) } };
  } catch (cause) {
    return { error: cause instanceof Error ? cause.message : String(cause) };
  }
}
