/** Flow maps and lists (in braces and brackets), in a text that the parser does not understand. */

/** An error of the parser; `pos` is where it begins and ends. */
export interface ParserError {
  readonly code: string;
  readonly message: string;
  readonly pos: readonly [number, number];
}

/** Matches a text that begins with a flow map or list. */
export const beginsFlow = /^\s*[{[]/;

/** Matches a document indicator, `---` or `...`, at the beginning of a text. */
export const beginsIndicator = /^(?:---|\.\.\.)(?:\s|$)/;

/** The characters that may precede a quote, brace or bracket for it to be an indicator. */
const mayPrecede = ' \t\r\n,:[{';

interface Sign {
  readonly sign: '[' | '{' | ']' | '}';
  readonly at: number;
}

/**
 * Yields the braces and brackets that are indicators, outside quotes and comments. Linear in the length of any text.
 */
function* signsOf(text: string): Generator<Sign> {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] ?? '';
    const begins = at === 0 || mayPrecede.includes(text[at - 1] ?? '');
    if (begins && (sign === '"' || sign === "'")) at = endOfQuoted(text, at + 1, sign);
    else if (sign === '#' && (at === 0 || /\s/.test(text[at - 1] ?? ''))) {
      const end = text.indexOf('\n', at);
      at = end < 0 ? text.length : end;
    } else if ((sign === '[' || sign === '{') && begins) {
      depth++;
      yield { sign, at };
    } else if ((sign === ']' || sign === '}') && depth > 0) {
      depth--;
      yield { sign, at };
    }
  }
}

/** Returns the offset of the closing quote, or the end of the text if there is none. `start` is within the quotes. */
export function endOfQuoted(text: string, start: number, quote: string): number {
  for (let at = start; at < text.length; at++) {
    const isEscape = quote === '"' ? text[at] === '\\' : text.startsWith("''", at);
    if (isEscape) at++;
    else if (text[at] === quote) return at;
  }
  return text.length;
}

/** Returns the innermost bracket or brace that is open at an offset. */
export function innermostFlow(text: string, offset: number): '[' | '{' | undefined {
  const open: ('[' | '{')[] = [];
  for (const { sign } of signsOf(text.slice(0, offset))) {
    if (sign === '[' || sign === '{') open.push(sign);
    else open.pop();
  }
  return open.at(-1);
}

/** Returns the offset at which everything open at `offset` is closed, or the end of the text if it is not. */
export function endOfFlow(text: string, offset: number): number {
  let depth = 0;
  for (const { sign, at } of signsOf(text)) {
    depth += sign === '[' || sign === '{' ? 1 : -1;
    if (at >= offset && depth === 0) return at;
  }
  return text.length;
}
