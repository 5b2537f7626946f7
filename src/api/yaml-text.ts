import { isUtf8 } from 'node:buffer';
import { YamlError } from './yaml-complaints.js';

/** Decoding of YAML texts. */

const controlCharacters = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

/** Returns the text with normalized line breaks. Throws YamlError. */
export function decodeYamlText(source: string | Uint8Array): string {
  if (typeof source !== 'string' && !isUtf8(source)) throw new YamlError('yaml: invalid leading UTF-8 octet');
  const text = typeof source === 'string' ? source : Buffer.from(source).toString('utf8');
  const withoutMark = text.startsWith('\ufeff') ? text.slice(1) : text;
  if (controlCharacters.test(withoutMark)) throw new YamlError('yaml: control characters are not allowed');
  const lines = withoutMark.replaceAll(/\r\n?|\x85/g, '\n');
  return separators.test(lines) ? withoutBlanksBesideSeparators(lines) : lines;
}

/**
 * Matches line breaks of YAML 1.1, which neither JSON nor YAML 1.2 has. Folding keeps them and removes blanks beside
 * them.
 */
const separators = /[\u2028\u2029]/;

function withoutBlanksBesideSeparators(text: string): string {
  const isBlank = (at: number): boolean => text[at] === ' ' || text[at] === '\t';
  const pieces: string[] = [];
  let from = 0;
  for (const { index } of text.matchAll(/[\u2028\u2029]/g)) {
    let end = index;
    while (end > from && isBlank(end - 1)) end--;
    pieces.push(text.slice(from, end), text[index] as string);
    from = index + 1;
    while (isBlank(from)) from++;
  }
  pieces.push(text.slice(from));
  return pieces.join('');
}
