/** How Go prints values in error messages (`%q`, `encoding/json`): clients compare these texts. */

const escapes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
};
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;

/** A string as Go's `%q` quotes it. */
export function quote(text: string): string {
  let out = '"';
  for (const character of text) {
    const known = escapes[character];
    if (known !== undefined) out += known;
    else if (unprintable.test(character)) {
      const code = character.codePointAt(0) ?? 0;
      if (code < 0x80) out += `\\x${code.toString(16).padStart(2, '0')}`;
      else if (code < 0x10000) out += `\\u${code.toString(16).padStart(4, '0')}`;
      else out += `\\U${code.toString(16).padStart(8, '0')}`;
    } else out += character;
  }
  return `${out}"`;
}

const everyHtmlSensitive = /[<>&\u2028\u2029]/g;
/** Five searches are an order of magnitude faster than one regular expression. */
const isHtmlSensitive = (text: string): boolean =>
  text.includes('<') || text.includes('>') || text.includes('&') || text.includes('\u2028') || text.includes('\u2029');
const escapeHtml = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Compact JSON as Go's encoder writes it: `<`, `>`, `&` and line separators escaped. */
export function goJson(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  return isHtmlSensitive(text) ? text.replace(everyHtmlSensitive, escapeHtml) : text;
}

/** A list of strings as Go's `%q` prints a slice: `["a" "b"]`. */
export const quoteList = (items: readonly string[]): string => `[${items.map(quote).join(' ')}]`;
