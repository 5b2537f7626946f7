/** Parses a media type: returns it without parameters, in lower case, or the error of Go's `mime` for it or its parameters. */
export function readMediaType(text: string): { readonly type: string } | { readonly wrong: string } {
  const [base = ''] = text.split(';', 1);
  const type = base.toLowerCase().trim();
  const wrong = wrongType(type) ?? wrongParameters(text.slice(base.length));
  return wrong === undefined ? { type } : { wrong: `mime: ${wrong}` };
}

/** The characters of a token by RFC 2045; Go also accepts braces. */
const tokenCharacters = "[!#$%&'*+.^_`{|}~0-9A-Za-z-]";
const typePattern = new RegExp(`^(${tokenCharacters}*)(/?)(${tokenCharacters}*)`);

/** Returns the error for a type. One without a slash is a disposition (RFC 2183), which is parsed in the same way. */
function wrongType(type: string): string | undefined {
  const [matched = '', first, slash, second] = typePattern.exec(type) ?? [];
  if (!first) return 'no media type';
  if (!slash) return matched === type ? undefined : 'expected slash after first token';
  if (!second) return 'expected token after slash';
  return matched === type ? undefined : 'unexpected content after media subtype';
}

const beforeValue = new RegExp(`\\s*;\\s*(${tokenCharacters}+)\\s*=\\s*`, 'y');
const plainValue = new RegExp(`${tokenCharacters}+`, 'y');

/** Returns the error for the parameters; `text` follows the type, and is empty or begins with a semicolon. */
function wrongParameters(text: string): string | undefined {
  const known = new Map<string, string>();
  for (let at = 0; at < text.length; ) {
    beforeValue.lastIndex = at;
    const name = beforeValue.exec(text)?.[1]?.toLowerCase();
    // A single trailing semicolon is allowed.
    if (name === undefined) return ['', ';'].includes(text.slice(at).trim()) ? undefined : 'invalid media parameter';
    const found = valueAt(text, beforeValue.lastIndex);
    if (found === undefined) return 'invalid media parameter';
    if ((known.get(name) ?? found.value) !== found.value) return 'duplicate parameter name';
    known.set(name, found.value);
    at = found.end;
  }
  return undefined;
}

/** Reads a token or quoted text and returns its end too; undefined if there is neither. */
function valueAt(text: string, start: number): { readonly value: string; readonly end: number } | undefined {
  if (text[start] === '"') return quotedAt(text, start + 1);
  plainValue.lastIndex = start;
  const [value] = plainValue.exec(text) ?? [];
  return value === undefined ? undefined : { value, end: plainValue.lastIndex };
}

/** The characters that can be escaped in quotes; before any other, a backslash is literal. */
const special = new Set('()<>@,;:\\"/[]?=');

function quotedAt(text: string, start: number): { readonly value: string; readonly end: number } | undefined {
  const pieces: string[] = [];
  for (let at = start; at < text.length; at++) {
    const character = text[at] ?? '';
    if (character === '"') return { value: pieces.join(''), end: at + 1 };
    if (character === '\r' || character === '\n') return undefined;
    pieces.push(character === '\\' && special.has(text[at + 1] ?? '') ? (text[++at] ?? '') : character);
  }
  return undefined;
}
