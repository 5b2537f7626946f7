/** A media type without its parameters, in lower case, or what Go's `mime` says is wrong with it or them. */
export function readMediaType(text: string): { readonly type: string } | { readonly wrong: string } {
  const [base = ''] = text.split(';', 1);
  const type = base.toLowerCase().trim();
  const wrong = wrongType(type) ?? wrongParameters(text.slice(base.length));
  return wrong === undefined ? { type } : { wrong: `mime: ${wrong}` };
}

/** Of RFC 2045; Go lets braces pass. */
const tokenCharacters = "[!#$%&'*+.^_`{|}~0-9A-Za-z-]";
const typePattern = new RegExp(`^(${tokenCharacters}*)(/?)(${tokenCharacters}*)`);

/** One without a slash is a disposition (RFC 2183), which is read in the same way. */
function wrongType(type: string): string | undefined {
  const [whole = '', first, slash, second] = typePattern.exec(type) ?? [];
  if (!first) return 'no media type';
  if (!slash) return whole === type ? undefined : 'expected slash after first token';
  if (!second) return 'expected token after slash';
  return whole === type ? undefined : 'unexpected content after media subtype';
}

const beforeValue = new RegExp(`\\s*;\\s*(${tokenCharacters}+)\\s*=\\s*`, 'y');
const plainValue = new RegExp(`${tokenCharacters}+`, 'y');

/** `text`: what follows the type, which is nothing or begins with a semicolon. */
function wrongParameters(text: string): string | undefined {
  const known = new Map<string, string>();
  for (let at = 0; at < text.length; ) {
    beforeValue.lastIndex = at;
    const name = beforeValue.exec(text)?.[1]?.toLowerCase();
    // One semicolon may stand at the end.
    if (name === undefined) return ['', ';'].includes(text.slice(at).trim()) ? undefined : 'invalid media parameter';
    const found = valueAt(text, beforeValue.lastIndex);
    if (found === undefined) return 'invalid media parameter';
    if ((known.get(name) ?? found.value) !== found.value) return 'duplicate parameter name';
    known.set(name, found.value);
    at = found.end;
  }
  return undefined;
}

/** A token or a quoted text, and where it ends; undefined where neither stands. */
function valueAt(text: string, start: number): { readonly value: string; readonly end: number } | undefined {
  if (text[start] === '"') return quotedAt(text, start + 1);
  plainValue.lastIndex = start;
  const [value] = plainValue.exec(text) ?? [];
  return value === undefined ? undefined : { value, end: plainValue.lastIndex };
}

/** What can be escaped in quotes; a backslash before anything else is one. */
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
