import { spend } from './effort.js';

/**
 * Texts are counted in code points, and a text's size is asked for far more often than paid for (`size(text)` costs one
 * unit however long it is): sizes of long texts are remembered. A lone surrogate counts as one.
 */
export function codePoints(text: string): number {
  if (text.length < longText) return count(text);
  // Looking it up may compare it with the cached text.
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
/** In UTF-16 units, of all texts together. */
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
