import { isUtf8 } from 'node:buffer';

/**
 * Decodes bytes that should be UTF-8. Each invalid byte becomes a lone surrogate of its own (U+DC80 to U+DCFF): with a
 * single replacement character, different names would become the same one, which could then be granted something.
 */
export function utf8Text(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const end = endOfCharacters(bytes, at);
    text += end === at ? String.fromCharCode(0xdc00 + (bytes[at] ?? 0)) : bytes.toString('utf8', at, end);
    at = Math.max(end, at + 1);
  }
  return text;
}

/** Returns the end of the characters at an offset: a run of ASCII, or one other character; the offset itself if it is invalid. */
function endOfCharacters(bytes: Buffer, at: number): number {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) {
    let end = at + 1;
    while (end < bytes.length && (bytes[end] ?? 0x80) < 0x80) end++;
    return end;
  }
  const end = at + (lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2);
  const mayBe = lead >= 0xc2 && ((bytes[at + 1] ?? 0) & 0xc0) === 0x80 && end <= bytes.length;
  return mayBe && isUtf8(bytes.subarray(at, end)) ? end : at;
}

/** Decodes UTF-8, byte order marks included; throws for anything else. */
export const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
