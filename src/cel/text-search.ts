/**
 * Substring search in UTF-16 units, in linear time: the built-in search takes the product of both lengths where both
 * are repetitive.
 */

/** Returns the index of the first `wanted` in `text` at or after `from`, or -1. */
export function indexOf(text: string, wanted: string, from = 0): number {
  return isQuick(text, wanted) ? text.indexOf(wanted, from) : search(text, wanted, from);
}

/** Returns the index of the last `wanted` in `text` at or before `from`, or -1. */
export function lastIndexOf(text: string, wanted: string, from = text.length): number {
  if (isQuick(text, wanted)) return text.lastIndexOf(wanted, from);
  let last = -1;
  const borders = bordersOf(wanted);
  const end = Math.min(text.length, from + wanted.length);
  for (let at = 0, matched = 0; at < end; at++) {
    matched = advance(wanted, borders, matched, text.charCodeAt(at));
    if (matched === wanted.length) last = at + 1 - matched;
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
const shortWanted = 8;
const isQuick = (text: string, wanted: string): boolean =>
  wanted.length <= shortWanted || text.length * wanted.length <= fewComparisons;

/** Searches by the algorithm of Knuth, Morris and Pratt, which visits each unit of `text` once. */
function search(text: string, wanted: string, from: number): number {
  if (text.length - from < wanted.length) return -1;
  const borders = bordersOf(wanted);
  for (let at = from, matched = 0; at < text.length; at++) {
    matched = advance(wanted, borders, matched, text.charCodeAt(at));
    if (matched === wanted.length) return at + 1 - matched;
  }
  return -1;
}

/** Returns how much of `wanted` is matched after one more unit. */
function advance(wanted: string, borders: Int32Array, before: number, unit: number): number {
  let matched = before;
  if (matched === wanted.length) matched = borders[matched - 1] ?? 0;
  while (matched > 0 && wanted.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
  return wanted.charCodeAt(matched) === unit ? matched + 1 : 0;
}

/** Returns for each prefix of `wanted` the length of the longest shorter prefix that it ends with. */
function bordersOf(wanted: string): Int32Array {
  const borders = new Int32Array(wanted.length);
  for (let at = 1, matched = 0; at < wanted.length; at++) {
    const unit = wanted.charCodeAt(at);
    while (matched > 0 && wanted.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
    if (wanted.charCodeAt(matched) === unit) matched++;
    borders[at] = matched;
  }
  return borders;
}
