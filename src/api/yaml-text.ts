import { isUtf8 } from 'node:buffer';
import { YamlError } from './yaml-error.js';

/** Decoding of YAML texts. */

const controlCharacters = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

/** Returns the text with normalized line breaks. Throws YamlError. */
export function decodeYamlText(source: string | Uint8Array): string {
  const text = typeof source === 'string' ? source : decodeText(source);
  const withoutMark = text.startsWith('\ufeff') ? text.slice(1) : text;
  if (controlCharacters.test(withoutMark)) throw new YamlError('yaml: control characters are not allowed');
  return withoutMark.replaceAll(/\r\n?|\x85/g, '\n');
}

/** Decodes UTF-8, or UTF-16 with a byte order mark, in which some shells write files. Throws YamlError. */
export function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const isLittleEndian = first === 0xff && second === 0xfe;
  if (isLittleEndian || (first === 0xfe && second === 0xff)) {
    try {
      return new TextDecoder(isLittleEndian ? 'utf-16le' : 'utf-16be', { fatal: true }).decode(bytes);
    } catch {
      throw new YamlError('yaml: incomplete UTF-16 character');
    }
  }
  if (!isUtf8(bytes)) throw new YamlError('yaml: invalid leading UTF-8 octet');
  return Buffer.from(bytes).toString('utf8');
}
