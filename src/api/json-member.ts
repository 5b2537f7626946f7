import { code } from './json-scan.js';

/** Reads members of compact JSON without parsing all of it. */

/**
 * Yields the members of the outermost object of a text written by this program: JSON without spaces. Names include
 * their quotes. Takes time only for the text up to the last member requested.
 */
export function* memberTexts(json: Buffer): Generator<{ readonly name: Buffer; readonly value: Buffer }, void> {
  for (let at = 1; json[at] === code.quote; ) {
    const colon = endOfString(json, at);
    const end = endOfValue(json, colon + 1);
    yield { name: json.subarray(at, colon), value: json.subarray(colon + 1, end) };
    if (json[end] !== code.comma) return;
    at = end + 1;
  }
}

/** Returns the text of a member whose name needs no escapes; undefined if there is none. */
export function memberText(json: Buffer, name: string): Buffer | undefined {
  const quotedName = Buffer.from(`"${name}"`);
  for (const { name, value } of memberTexts(json)) if (name.equals(quotedName)) return value;
  return undefined;
}

/** Returns the offset after the string that begins at `at`. */
function endOfString(json: Buffer, at: number): number {
  for (let end = at + 1; end < json.length; end++) {
    const byte = json[end];
    if (byte === code.quote) return end + 1;
    if (byte === code.backslash) end++;
  }
  return json.length;
}

/** Returns the offset after the value that begins at `at`. */
function endOfValue(json: Buffer, at: number): number {
  let depth = 0;
  for (let end = at; end < json.length; ) {
    const byte = json[end];
    if (byte === code.quote) end = endOfString(json, end);
    else if (depth === 0 && (byte === code.comma || byte === code.closeBrace)) return end;
    else {
      if (byte === code.openBrace || byte === code.openBracket) depth++;
      else if (byte === code.closeBrace || byte === code.closeBracket) depth--;
      end++;
    }
  }
  return json.length;
}
