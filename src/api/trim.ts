/**
 * Texts without what stands at their ends. A regular expression such as `/ +$/` takes the square of a run of spaces that is not
 * at the end, and such texts come from strangers.
 */

/** Without spaces at either end; other white space stays. */
export const withoutOuterSpaces = (text: string): string => withoutTrailing(text, ' ').slice(countLeadingSpaces(text));

/** Without this character at the end. */
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
