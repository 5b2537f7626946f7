import { strictUtf8 } from '../api/utf8-text.js';
import { universal } from './der.js';

/** The string types of names (X.520 DirectoryString and its relatives), decoded as Go decodes them. */

type Decoded = { readonly text: string } | { readonly broken: BrokenString };
type BrokenString = 'PrintableString' | 'NumericString' | 'IA5String' | 'UTF-8 string' | 'BMPString';

/** PrintableString and two characters that are tolerated in it, `*` and `&`. */
const printable = /^[A-Za-z0-9 '()+,\-./:=?*&]*$/;
const numeric = /^[0-9 ]*$/;

export const isAscii = (bytes: Buffer): boolean => bytes.every((byte) => byte < 0x80);

const matching =
  (pattern: RegExp, broken: BrokenString) =>
  (bytes: Buffer): Decoded => {
    const text = bytes.toString('latin1');
    return pattern.test(text) ? { text } : { broken };
  };

function utf8(bytes: Buffer): Decoded {
  try {
    return { text: strictUtf8.decode(bytes) };
  } catch {
    return { broken: 'UTF-8 string' };
  }
}

/** Decodes UCS-2 without surrogates and noncharacters; one terminating zero is dropped. */
function bmp(bytes: Buffer): Decoded {
  if (bytes.length % 2 !== 0) return { broken: 'BMPString' };
  const ends = bytes.length >= 2 && bytes.readUInt16BE(bytes.length - 2) === 0;
  const stop = ends ? bytes.length - 2 : bytes.length;
  let text = '';
  for (let at = 0; at < stop; at += 2) {
    const unit = bytes.readUInt16BE(at);
    const reserved = unit >= 0xfffe || (unit >= 0xfdd0 && unit <= 0xfdef) || (unit >= 0xd800 && unit <= 0xdfff);
    if (reserved) return { broken: 'BMPString' };
    text += String.fromCharCode(unit);
  }
  return { text };
}

/** The decoders by universal tag number; T61 is read as Latin-1, as is common. */
const decoders: ReadonlyMap<number, (bytes: Buffer) => Decoded> = new Map([
  [universal.utf8String, utf8],
  [universal.numericString, matching(numeric, 'NumericString')],
  [universal.printableString, matching(printable, 'PrintableString')],
  [universal.t61String, (bytes: Buffer): Decoded => ({ text: bytes.toString('latin1') })],
  [
    universal.ia5String,
    (bytes: Buffer): Decoded => (isAscii(bytes) ? { text: bytes.toString('latin1') } : { broken: 'IA5String' }),
  ],
  [universal.bmpString, bmp],
]);

/**
 * Returns the text of a string of this universal type, or the type if the string is invalid; undefined for other types.
 */
export const decodeString = (tag: number, bytes: Buffer): Decoded | undefined => decoders.get(tag)?.(bytes);
