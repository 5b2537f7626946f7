/**
 * Trims texts in linear time. A regular expression such as `/ +$/` takes quadratic time for a run of spaces that is not at
 * the end, and such texts come from untrusted callers.
 */

/** Removes spaces at both ends; other white space stays. */
export const withoutOuterSpaces = (text: string): string => withoutTrailing(text, ' ').slice(countLeadingSpaces(text));

/** Removes this character at the end, however often it is repeated. */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}

function countLeadingSpaces(text: string): number {
  let count = 0;
  while (text[count] === ' ') count++;
  return count;
}
