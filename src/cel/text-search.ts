/**
 * Substring search in UTF-16 units, in linear time: the built-in search takes the product of both lengths where both
 * are repetitive.
 */

/** Returns the index of the first `pattern` in `text` at or after `from`, or -1. */
export function indexOf(text: string, pattern: string, from = 0): number {
  return isQuick(text, pattern) ? text.indexOf(pattern, from) : search(text, pattern, from);
}

/** Returns the index of the last `pattern` in `text` at or before `from`, or -1. */
export function lastIndexOf(text: string, pattern: string, from = text.length): number {
  if (isQuick(text, pattern)) return text.lastIndexOf(pattern, from);
  let last = -1;
  const borders = bordersOf(pattern);
  const end = Math.min(text.length, from + pattern.length);
  for (let at = 0, matched = 0; at < end; at++) {
    matched = advance(pattern, borders, matched, text.charCodeAt(at));
    if (matched === pattern.length) last = at + 1 - matched;
  }
  return last;
}

/** Splits `text` at a `separator` that is not empty; returns at most `limit` parts, the last one with the rest. */
export function partsBetween(text: string, separator: string, limit = Number.POSITIVE_INFINITY): string[] {
  const parts: string[] = [];
  let start = 0;
  if (isQuick(text, separator)) {
    for (let at = text.indexOf(separator); at >= 0 && parts.length + 1 < limit; at = text.indexOf(separator, start)) {
      parts.push(text.slice(start, at));
      start = at + separator.length;
    }
    parts.push(text.slice(start));
    return parts;
  }
  const borders = bordersOf(separator);
  for (let at = 0, matched = 0; at < text.length && parts.length + 1 < limit; at++) {
    matched = advance(separator, borders, matched, text.charCodeAt(at));
    if (matched < separator.length) continue;
    parts.push(text.slice(start, at + 1 - matched));
    start = at + 1;
    matched = 0;
  }
  parts.push(text.slice(start));
  return parts;
}

/** The number of comparisons up to which the built-in search is fast enough. */
const fewComparisons = 10_000_000;
const shortPattern = 8;
const isQuick = (text: string, pattern: string): boolean =>
  pattern.length <= shortPattern || text.length * pattern.length <= fewComparisons;

/** Searches by the algorithm of Knuth, Morris and Pratt, which visits each unit of `text` once. */
function search(text: string, pattern: string, from: number): number {
  if (text.length - from < pattern.length) return -1;
  const borders = bordersOf(pattern);
  for (let at = from, matched = 0; at < text.length; at++) {
    matched = advance(pattern, borders, matched, text.charCodeAt(at));
    if (matched === pattern.length) return at + 1 - matched;
  }
  return -1;
}

/** Returns how much of `pattern` is matched after one more unit. */
function advance(pattern: string, borders: Int32Array, before: number, unit: number): number {
  let matched = before;
  if (matched === pattern.length) matched = borders[matched - 1] ?? 0;
  while (matched > 0 && pattern.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
  return pattern.charCodeAt(matched) === unit ? matched + 1 : 0;
}

/** Returns for each prefix of `pattern` the length of the longest shorter prefix that it ends with. */
function bordersOf(pattern: string): Int32Array {
  const borders = new Int32Array(pattern.length);
  for (let at = 1, matched = 0; at < pattern.length; at++) {
    const unit = pattern.charCodeAt(at);
    while (matched > 0 && pattern.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
    if (pattern.charCodeAt(matched) === unit) matched++;
    borders[at] = matched;
  }
  return borders;
}
