/** Functions shared by parsing and splitting JSON. */

/** Character codes of the JSON grammar. */
export const code = {
  space: 0x20,
  tab: 0x09,
  newline: 0x0a,
  return: 0x0d,
  quote: 0x22,
  backslash: 0x5c,
  colon: 0x3a,
  comma: 0x2c,
  openBrace: 0x7b,
  closeBrace: 0x7d,
  openBracket: 0x5b,
  closeBracket: 0x5d,
  plus: 0x2b,
  minus: 0x2d,
  dot: 0x2e,
  zero: 0x30,
  nine: 0x39,
} as const;

/** Returns the offset of the quote that closes the string opened at `at`; -1 if there is none. */
export function endOfString(text: string, at: number): number {
  let end = text.indexOf('"', at + 1);
  while (end > 0 && text.charCodeAt(end - 1) === code.backslash) {
    let slashes = 1;
    while (text.charCodeAt(end - 1 - slashes) === code.backslash) slashes++;
    if (slashes % 2 === 0) break;
    end = text.indexOf('"', end + 1);
  }
  return end;
}

export const isDigit = (character: number): boolean => character >= code.zero && character <= code.nine;
export const isSpace = (byte: number | undefined): boolean =>
  byte === code.space || byte === code.newline || byte === code.return || byte === code.tab;

/** Returns the offset after the number that begins at `at`. */
export function endOfNumber(text: string, at: number): number {
  let end = at + 1;
  for (; end < text.length; end++) {
    const character = text.charCodeAt(end);
    const numeric =
      isDigit(character) ||
      character === code.dot ||
      character === code.plus ||
      character === code.minus ||
      (character | 0x20) === 0x65;
    if (!numeric) break;
  }
  return end;
}
