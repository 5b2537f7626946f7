import { beginsFlow, beginsIndicator, endOfFlow, endOfQuoted, innermostFlow, type ParserError } from './yaml-flow.js';

/** Corrections where go-yaml is more lenient than the parser, or stops reading earlier. */

/**
 * Returns the text before an error that go-yaml never reaches: it ignores what follows a complete flow map or list or
 * quoted text, and what is indented less than the root. Returns undefined in other cases.
 */
export function ignoreTrailing(text: string, wrong: ParserError): string | undefined {
  const end = endOfRoot(text);
  const isOver = end === undefined ? isLeftOfAll(text, wrong) : wrong.pos[0] > end;
  return isOver && wrong.pos[0] > 0 ? text.slice(0, wrong.pos[0]) : undefined;
}

/**
 * Returns where the root ends if a closing sign marks its end; undefined if none does, or if it is only the first name
 * of a map.
 */
function endOfRoot(text: string): number | undefined {
  const quote = /^\s*(?:---\s+)?(["'])/.exec(text);
  if (quote === null && !beginsFlow.test(text.replace(/^\s*---(?=\s)/, ''))) return undefined;
  const end = quote === null ? endOfFlow(text, 0) : endOfQuoted(text, quote[0].length, quote[1] ?? '');
  return /^[ \t]*:(?:\s|$)/.test(text.slice(end + 1)) ? undefined : end;
}

/** Whether the error is at a line that is indented less than the first one, which ends the document. */
function isLeftOfAll(text: string, { message, pos }: ParserError): boolean {
  const indent = /^(?:[ \t]*(?:#.*)?\n)*( +)\S/.exec(text)?.[1]?.length ?? 0;
  const start = text.lastIndexOf('\n', pos[0] - 1) + 1;
  return message.endsWith('at node end') && pos[0] - start < indent && text.slice(start, pos[0]).trim() === '';
}

/**
 * Returns the text with corrected indentation: within braces, brackets and quotes go-yaml ignores indentation, which
 * the parser checks. The line in error, and the following lines within, are indented more than the line before. Returns
 * undefined if the error is a different one.
 */
export function repairIndent(text: string, { message, pos }: ParserError): string | undefined {
  const isQuote = message.startsWith('Missing closing') && text[pos[0]] === '\n';
  if (!isQuote && !/^Flow .* must be sufficiently indented/.test(message)) return undefined;
  const start = isQuote ? pos[0] + 1 : text.lastIndexOf('\n', pos[0] - 1) + 1;
  const remaining = text.slice(start);
  if (start === 0 || remaining.trimStart() === '' || beginsIndicator.test(remaining)) return undefined;
  if (!isQuote && innermostFlow(text, start) === undefined) return undefined;
  const before = text.slice(0, start).trimEnd().split('\n').at(-1) ?? '';
  const column = /^ *(?:- +)*/.exec(before)?.[0].length ?? 0;
  const indent = ' '.repeat(column + 1);
  // Includes the closing sign, which may be on a line of its own.
  const end = 1 + (isQuote ? endOfQuoted(text, start, message.includes('"') ? '"' : "'") : endOfFlow(text, start));
  const indicator = /^(?:---|\.\.\.)(?=\s|$)/m.exec(remaining)?.index ?? remaining.length;
  const inside = remaining.slice(0, Math.min(end - start, indicator));
  const moved = inside.replace(/^[ \t]*(?=\S)/gm, indent);
  return moved === inside ? undefined : text.slice(0, start) + moved + remaining.slice(inside.length);
}
