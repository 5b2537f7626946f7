/**
 * Texts without what stands at their ends. A regular expression such as `/ +$/` takes the square of a run of spaces that is not
 * at the end, and such texts come from strangers.
 */

/** Without this character at either end. */
export const trimmed = (text: string, character: string): string =>
  withoutTrailing(text, character).slice(countLeading(text, character));

/** Without this character at the end. */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}

function countLeading(text: string, character: string): number {
  let count = 0;
  while (count < text.length && text[count] === character) count++;
  return count;
}
