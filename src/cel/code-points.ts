import { spend } from './effort.js';

/**
 * Returns the size of a text in code points; a lone surrogate counts as one. Sizes of long texts are cached, because
 * `size(text)` costs one unit however long the text is.
 */
export function codePoints(text: string): number {
  if (text.length < longText) return count(text);
  // The lookup may compare the text with the cached one.
  spend(text.length >> 11);
  const known = sizes.get(text);
  if (known !== undefined) return known;
  spend(text.length >> 5);
  const size = count(text);
  remembered += text.length;
  if (remembered > mostRemembered) {
    sizes.clear();
    remembered = text.length;
  }
  sizes.set(text, size);
  return size;
}

const longText = 256;
/** The total length of cached texts, in UTF-16 units. */
const mostRemembered = 8_000_000;
const sizes = new Map<string, number>();
let remembered = 0;

function count(text: string): number {
  let size = text.length;
  for (let index = 1; index < text.length; index++) {
    if ((text.charCodeAt(index) & 0xfc00) !== 0xdc00 || (text.charCodeAt(index - 1) & 0xfc00) !== 0xd800) continue;
    size--;
    index++;
  }
  return size;
}
