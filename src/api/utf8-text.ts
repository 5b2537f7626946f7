import { isUtf8 } from 'node:buffer';

/**
 * The text of bytes that should be UTF-8. A byte that is none stands for itself (as half of a pair, U+DC80 to U+DCFF):
 * replaced by one character for all, different names would become one, which could then be granted something.
 */
export function utf8Text(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const length = [1, 2, 3, 4].find((count) => at + count <= bytes.length && isUtf8(bytes.subarray(at, at + count)));
    text +=
      length === undefined ? String.fromCharCode(0xdc00 + (bytes[at] ?? 0)) : bytes.toString('utf8', at, at + length);
    at += length ?? 1;
  }
  return text;
}
