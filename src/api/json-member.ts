/** Looks into compact JSON without reading all of it. */

const backslash = 0x5c;
const closeBrace = 0x7d;
const closeBracket = 0x5d;
const comma = 0x2c;
const openBrace = 0x7b;
const openBracket = 0x5b;
const quote = 0x22;

/**
 * The text of a member of the outermost object of a text that this program wrote: JSON without spaces, its names free of
 * escapes where they are what is looked for. undefined: there is no such member. Takes time for what stands before it only.
 */
export function memberText(json: Buffer, name: string): Buffer | undefined {
  const wanted = Buffer.from(`"${name}":`);
  let at = 1;
  while (json[at] === quote) {
    const value = endOfString(json, at) + 1;
    const end = endOfValue(json, value);
    if (value - at === wanted.length && json.compare(wanted, 0, wanted.length, at, value) === 0)
      return json.subarray(value, end);
    if (json[end] !== comma) return undefined;
    at = end + 1;
  }
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
