import { type ExactJson, jsonKind, literalOf } from './json-exact.js';

/** Base64 as Go's `base64.StdEncoding` takes it: padded, line breaks skipped, stray trailing bits dropped. */

/** Returns the text in canonical form, or the offset of the first illegal byte. */
export function canonicalBase64(text: string): string | { readonly illegalAt: number } {
  const canonical = Buffer.from(text, 'base64').toString('base64');
  if (canonical === text) return text;
  const illegalAt = firstIllegal(text);
  return illegalAt < 0 ? canonical : { illegalAt };
}

/** Decodes base64 as Go's `base64.URLEncoding` does, or returns the offset of the first illegal byte. */
export function bytesOfUrlBase64(text: string): Buffer | { readonly illegalAt: number } {
  const canonical = canonicalBase64(text.replace(/[-_+/]/g, (character) => urlAlphabet[character] ?? '!'));
  return typeof canonical === 'string' ? Buffer.from(canonical, 'base64') : canonical;
}

/** Decodes base64url without padding as Go's `base64.RawURLEncoding` does, or returns the offset at which that fails. */
export function bytesOfRawUrlBase64(text: string): Buffer | { readonly illegalAt: number } {
  const illegalAt = Buffer.from(text).findIndex((byte) => !/[A-Za-z0-9_\r\n-]/.test(String.fromCharCode(byte)));
  if (illegalAt >= 0) return { illegalAt };
  const isCutOff = text.replace(/[\r\n]/g, '').length % 4 === 1;
  return isCutOff ? { illegalAt: text.length - 1 } : Buffer.from(text, 'base64url');
}

/** Decodes base64url without padding, as in tokens; undefined for any other text. */
export const bytesOfUnpaddedUrlBase64 = (text: string): Buffer | undefined =>
  /^[A-Za-z0-9_-]*$/.test(text) && text.length % 4 !== 1 ? Buffer.from(text, 'base64url') : undefined;

const maxByte = 255;

/** Returns the bytes of a list of numbers, which Go accepts in place of base64, or Go's name for the item that is no byte. */
export function bytesOfList(items: readonly ExactJson[]): Buffer | { readonly wrong: string } {
  const bytes = Buffer.alloc(items.length);
  for (const [at, item] of items.entries()) {
    if (item === null) continue;
    const literal = literalOf(item);
    if (literal === undefined && typeof item !== 'number') return { wrong: jsonKind(item) };
    if (typeof item !== 'number' || !Number.isInteger(item) || item < 0 || item > maxByte) {
      return { wrong: `number ${literal ?? item}` };
    }
    bytes[at] = item;
  }
  return bytes;
}

const urlAlphabet: Readonly<Record<string, string>> = { '-': '+', _: '/' };
const alphabet = /^[A-Za-z0-9+/]$/;
const isBreak = (character: string | undefined): boolean => character === '\n' || character === '\r';

/** Returns the offset of the byte Go complains about; -1 if there is none. All before it is ASCII, so it is also the index. */
function firstIllegal(text: string): number {
  let at = 0;
  const skipBreaks = (): void => {
    while (isBreak(text[at])) at++;
  };
  for (;;) {
    for (let filled = 0; filled < 4; filled++) {
      skipBreaks();
      const character = text[at];
      if (character === undefined) return filled === 0 ? -1 : at - filled;
      if (alphabet.test(character)) {
        at++;
        continue;
      }
      if (character !== '=' || filled < 2) return at;
      at++;
      if (filled === 2) {
        skipBreaks();
        if (at === text.length) return at;
        if (text[at] !== '=') return at - 1;
        at++;
      }
      skipBreaks();
      return at < text.length ? at : -1;
    }
  }
}
