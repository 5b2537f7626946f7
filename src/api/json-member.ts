/** Looks into compact JSON without reading all of it. */

const backslash = 0x5c;
const closeBrace = 0x7d;
const closeBracket = 0x5d;
const comma = 0x2c;
const openBrace = 0x7b;
const openBracket = 0x5b;
const quote = 0x22;

/**
 * The members of the outermost object of a text that this program wrote: JSON without spaces. Names with their quotes.
 * Takes time for what is asked for, and for what stands before it.
 */
export function* memberTexts(json: Buffer): Generator<{ readonly name: Buffer; readonly value: Buffer }, void> {
  for (let at = 1; json[at] === quote; ) {
    const colon = endOfString(json, at);
    const end = endOfValue(json, colon + 1);
    yield { name: json.subarray(at, colon), value: json.subarray(colon + 1, end) };
    if (json[end] !== comma) return;
    at = end + 1;
  }
}

/** The text of one of them, whose name needs no escapes; undefined: there is no such member. */
export function memberText(json: Buffer, name: string): Buffer | undefined {
  const wanted = Buffer.from(`"${name}"`);
  for (const { name, value } of memberTexts(json)) if (name.equals(wanted)) return value;
  return undefined;
}

/** Past the string that begins at `at`. */
function endOfString(json: Buffer, at: number): number {
  for (let end = at + 1; end < json.length; end++) {
    const byte = json[end];
    if (byte === quote) return end + 1;
    if (byte === backslash) end++;
  }
  return json.length;
}

/** Past the value that begins at `at`. */
function endOfValue(json: Buffer, at: number): number {
  let depth = 0;
  for (let end = at; end < json.length; ) {
    const byte = json[end];
    if (byte === quote) end = endOfString(json, end);
    else if (depth === 0 && (byte === comma || byte === closeBrace)) return end;
    else {
      if (byte === openBrace || byte === openBracket) depth++;
      else if (byte === closeBrace || byte === closeBracket) depth--;
      end++;
    }
  }
  return json.length;
}
