/** The order in which Go puts texts. */

/** Sorts names, in place, as Go does. */
export const sortTexts = (texts: string[]): string[] =>
  // Code units order as bytes do, short of surrogates.
  texts.some((text) => surrogate.test(text)) ? texts.sort(compareText) : texts.sort();
const surrogate = /[\ud800-\udfff]/;

/** Order of UTF-8 bytes, which is Go's order of strings. */
export function compareText(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a === b) continue;
    // Surrogates stand for code points above the rest of the basic plane.
    const aHigh = a >= 0xd800 && a <= 0xdfff;
    const bHigh = b >= 0xd800 && b <= 0xdfff;
    if (aHigh !== bHigh) return aHigh ? 1 : -1;
    return a - b;
  }
  return left.length - right.length;
}
