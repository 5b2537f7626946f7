import { beginsFlow, beginsIndicator, endOfFlow, endOfQuoted, innermostFlow, type ParserError } from './yaml-flow.js';

/** Where go-yaml reads on, or has read enough, and the parser has not. */

/**
 * What stands before an error that go-yaml never comes to: what follows a complete map or list in braces or brackets, or
 * a complete text in quotes, it does not look at, nor at what stands left of the whole. undefined where that is not so.
 */
export function ignoreTrailing(text: string, wrong: ParserError): string | undefined {
  const end = endOfRoot(text);
  const isOver = end === undefined ? isLeftOfAll(text, wrong) : wrong.pos[0] > end;
  return isOver && wrong.pos[0] > 0 ? text.slice(0, wrong.pos[0]) : undefined;
}

/** Where the whole ends if that is told by a sign; undefined if not, or if it is only the first name of a map. */
function endOfRoot(text: string): number | undefined {
  const quote = /^\s*(?:---\s+)?(["'])/.exec(text);
  if (quote === null && !beginsFlow.test(text.replace(/^\s*---(?=\s)/, ''))) return undefined;
  const end = quote === null ? endOfFlow(text, 0) : endOfQuoted(text, quote[0].length, quote[1] ?? '');
  return /^[ \t]*:(?:\s|$)/.test(text.slice(end + 1)) ? undefined : end;
}

/** Does the error lie where a line begins further to the left than the first one, which ends the document? */
function isLeftOfAll(text: string, { message, pos }: ParserError): boolean {
  const indent = /^(?:[ \t]*(?:#.*)?\n)*( +)\S/.exec(text)?.[1]?.length ?? 0;
  const start = text.lastIndexOf('\n', pos[0] - 1) + 1;
  return message.endsWith('at node end') && pos[0] - start < indent && text.slice(start, pos[0]).trim() === '';
}

/**
 * Within braces, brackets and quotes go-yaml does not care how far a line is indented; the parser does. The text with the
 * line that it does not like, and what follows within, further to the right than the line before. undefined where
 * something else is wrong.
 */
export function repairIndent(text: string, { message, pos }: ParserError): string | undefined {
  const isQuote = message.startsWith('Missing closing') && text[pos[0]] === '\n';
  if (!isQuote && !/^Flow .* must be sufficiently indented/.test(message)) return undefined;
  const start = isQuote ? pos[0] + 1 : text.lastIndexOf('\n', pos[0] - 1) + 1;
  const rest = text.slice(start);
  if (start === 0 || rest.trimStart() === '' || beginsIndicator.test(rest)) return undefined;
  if (!isQuote && innermostFlow(text, start) === undefined) return undefined;
  const before = text.slice(0, start).trimEnd().split('\n').at(-1) ?? '';
  const column = /^ *(?:- +)*/.exec(before)?.[0].length ?? 0;
  const indent = ' '.repeat(column + 1);
  // With the sign that ends it, which may stand in a line of its own.
  const end = 1 + (isQuote ? endOfQuoted(text, start, message.includes('"') ? '"' : "'") : endOfFlow(text, start));
  const indicator = /^(?:---|\.\.\.)(?=\s|$)/m.exec(rest)?.index ?? rest.length;
  const inside = rest.slice(0, Math.min(end - start, indicator));
  const moved = inside.replace(/^[ \t]*(?=\S)/gm, indent);
  return moved === inside ? undefined : text.slice(0, start) + moved + rest.slice(inside.length);
}
