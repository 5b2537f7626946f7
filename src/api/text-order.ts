/** Orders texts as Go does: by their UTF-8 bytes. */

const surrogate = /[\ud800-\udfff]/;

/** Whether a text has surrogates. Without them JavaScript's own order, by code units, is that of the bytes, and faster. */
export const hasSurrogates = (text: string): boolean => surrogate.test(text);

/** Sorts texts in place. Checks first whether they are in order, as most are, because `sort` copies even short lists. */
export function sortTexts(texts: string[]): string[] {
  if (texts.length < 2) return texts;
  if (texts.some(hasSurrogates)) return texts.sort(compareText);
  return areInOrder(texts) ? texts : texts.sort();
}

function areInOrder(texts: readonly string[]): boolean {
  for (let at = 1; at < texts.length; at++) if ((texts[at - 1] as string) > (texts[at] as string)) return false;
  return true;
}

/** Returns the names of an object's members, or the keys of a map, in order. */
export const sortedNames = (of: object | ReadonlyMap<string, unknown>): string[] =>
  sortTexts(of instanceof Map ? [...(of as ReadonlyMap<string, unknown>).keys()] : Object.keys(of));

/** Compares two texts, for `sort`. */
export function compareText(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a === b) continue;
    const aHigh = a >= 0xd800 && a <= 0xdfff;
    const bHigh = b >= 0xd800 && b <= 0xdfff;
    if (aHigh !== bHigh) return aHigh ? 1 : -1;
    return a - b;
  }
  return left.length - right.length;
}
