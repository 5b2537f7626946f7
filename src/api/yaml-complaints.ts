import { beginsFlow, beginsIndicator, innermostFlow, type ParserError } from './yaml-flow.js';

/**
 * go-yaml's errors for invalid YAML, derived from the errors of the parser used here, which distinguishes other cases.
 */

const longestIndent = 300;

/**
 * Thrown for a text that is not YAML, or cannot be converted to JSON. The message is Go's as far as the parser
 * distinguishes the cases.
 */
export class YamlError extends Error {
  override readonly name = 'YamlError';
}

export const tooDeep = 'yaml: exceeded max depth of 10000';

/** go-yaml's error for a case that the parser distinguishes; errors with `scanner` count lines from one. */
interface Complaint {
  readonly text: string;
  readonly scanner?: true;
}
export const noContent = 'did not find expected node content';
const noNextItem = "did not find expected '-' indicator";
export const noEndOfMap = "did not find expected ',' or '}'";
const noEndOfList = "did not find expected ',' or ']'";
const noColon = "could not find expected ':'";
const noValueHere = 'mapping values are not allowed in this context';
const noKeyHere = 'mapping keys are not allowed in this context';
const noListHere = 'block sequence entries are not allowed in this context';
export const noKey = 'did not find expected key';
export const noEndOfQuotes = 'found unexpected end of stream';
export const noToken = 'found character that cannot start any token';
const complaints: Readonly<Record<string, Complaint>> = {
  BLOCK_AS_IMPLICIT_KEY: { text: noValueHere, scanner: true },
  BAD_SCALAR_START: { text: noToken, scanner: true },
  KEY_OVER_1024_CHARS: { text: noColon, scanner: true },
  BAD_DQ_ESCAPE: { text: 'found unknown escape character', scanner: true },
  BAD_DIRECTIVE: { text: 'found unknown directive name', scanner: true },
  BAD_ALIAS: { text: 'did not find expected alphabetic or numeric character', scanner: true },
  MULTIPLE_TAGS: { text: noContent },
  MULTIPLE_ANCHORS: { text: noContent },
};
const byMessage: readonly (Complaint & { readonly begins: string })[] = [
  { begins: 'Missing closing', text: noEndOfQuotes, scanner: true },
  { begins: 'Unexpected block-seq-ind on same line', text: noListHere, scanner: true },
  { begins: 'Verbatim tags', text: "did not find the expected '>'", scanner: true },
  { begins: 'Could not resolve tag', text: 'found undefined tag handle' },
  { begins: 'Block collection cannot start on same line', text: noValueHere, scanner: true },
  { begins: 'Missing directives-end', text: 'did not find expected <document start>' },
  { begins: 'Unexpected ,', text: noContent },
  { begins: 'Unexpected scalar token', text: noEndOfMap },
  { begins: 'Missing , or :', text: noEndOfMap },
  { begins: 'Flow map', text: noEndOfMap },
  { begins: 'Flow seq', text: noEndOfList },
  { begins: 'All sequence items', text: noNextItem },
];

/** Returns an error of go-yaml's parser, which counts lines from zero and omits the first one. */
export const complaintAt = (text: string, line: number): string =>
  line === 0 ? `yaml: ${text}` : `yaml: line ${line}: ${text}`;

/** Returns an error of go-yaml's scanner, which counts lines from one and also omits the first one. */
export const scannerComplaint = (text: string, line: number): string => complaintAt(text, line === 1 ? 0 : line);

/**
 * Returns the offset of the colon after the last name in an open map if the name begins on an earlier line: such a
 * colon ends the map.
 */
function colonOnLaterLine(text: string): number | undefined {
  const begin = Math.max(...['{', '[', ','].map((sign) => text.lastIndexOf(sign))) + 1;
  const colon = text.indexOf(':', begin);
  const name = text.slice(begin, colon).trimStart();
  return colon >= 0 && name.includes('\n') && /\s/.test(text[colon + 1] ?? '') ? colon : undefined;
}

/**
 * Returns the error for a flow map or list that is cut off by the end of the text; go-yaml counts the end as a line.
 */
function cutOffFlow(
  text: string,
  { at, isList, lineAt }: { readonly at: number; readonly isList: boolean; lineAt(offset: number): number },
): string | undefined {
  const written = text.trimEnd();
  if (at < written.length - 1) return undefined;
  const last = written.at(-1) ?? '';
  // A mismatched closing bracket is a different error, not a cut-off.
  if (last === (isList ? '}' : ']') && innermostFlow(text, written.length - 1) === (isList ? '[' : '{'))
    return undefined;
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  const end = isList ? noEndOfList : noEndOfMap;
  const colon = isList ? undefined : colonOnLaterLine(text);
  if (colon !== undefined) return complaintAt(end, lineAt(colon) - 1);
  return complaintAt('{[,:'.includes(last) ? noContent : end, lines);
}

/** Returns the line of the next token; go-yaml counts the end as a line. */
function lineAfter(text: string, offset: number, lineAt: (offset: number) => number): number {
  const skipped = /^(?:\s|#.*)*/.exec(text.slice(offset))?.[0].length ?? 0;
  if (offset + skipped < text.length) return lineAt(offset + skipped);
  return lineAt(text.length) + (text.endsWith('\n') ? 0 : 1);
}

/**
 * Returns the closest line above that is not indented more than the one at an offset, and whether that one is aligned
 * with it.
 */
function lineAbove(text: string, offset: number): { readonly line: string; readonly aligned: boolean } {
  const [current = '', ...before] = text
    .slice(0, offset + 1)
    .split('\n')
    .reverse();
  const column = current.search(/\S/) < 0 ? current.length : current.search(/\S/);
  const line = before.find((one) => /^[^\s#]/.test(one.trimStart()) && one.search(/\S/) <= column) ?? '';
  const isFirst = line === '' || line.startsWith('---') || /^ *- /.test(current);
  const columns = [line.search(/\S/), /^ *(?:- +)*/.exec(line)?.[0].length];
  return { line, aligned: !isFirst && columns.includes(column) };
}

/** Whether the line at an offset begins with a colon that has no name before it. */
const beginsWithColon = (text: string, offset: number): boolean =>
  /^\s*(?:- +)*:\s/.test(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset + 1));

/** Whether a flow map or list needs further content at an offset, because a comma, a colon or a bracket precedes it. */
const wantsContent = (text: string, offset: number): boolean => /[,:{[]$/.test(text.slice(0, offset).trimEnd());

/** Returns the error for a missing end of the innermost flow map or list. */
const endOf = (text: string, offset: number): string =>
  innermostFlow(text, offset) === '[' ? noEndOfList : noEndOfMap;

const badHeader = (message: string): string =>
  /: [|>][-+]?0/.test(message)
    ? 'found an indentation indicator equal to 0'
    : 'did not find expected comment or line break';

/** Returns the error after the indicator of a block scalar, which go-yaml reports before anything else on the line. */
function headerComplaint(
  errors: readonly ParserError[],
  text: string,
  lineAt: (offset: number) => number,
): string | undefined {
  const [wrong] = errors;
  const isBehindSign = ({ pos: [at] }: ParserError): boolean =>
    /(?:^|\s)[|>][-+\d]*[ \t]+$/.test(text.slice(text.lastIndexOf('\n', at - 1) + 1, at));
  const found = errors.find(
    (one) =>
      one.message.startsWith('Block scalar header') ||
      (one.message.startsWith('Not a YAML token') && isBehindSign(one)),
  );
  if (wrong === undefined || found === undefined) return undefined;
  const line = lineAt(found.pos[0]);
  return lineAt(wrong.pos[0]) < line ? undefined : scannerComplaint(badHeader(found.message), line);
}

function badEscape(message: string): string {
  const digits = /\\([xuU])([\da-fA-F]*)/.exec(message);
  if (digits === null) return 'found unknown escape character';
  const [, letter = 'x', hex = ''] = digits;
  const isWhole = hex.length >= ({ x: 2, u: 4, U: 8 }[letter] ?? 0);
  return isWhole ? 'found invalid Unicode character escape code' : 'did not find expected hexdecimal number';
}

/** Returns the error for a name without a colon, or with one on a later line; go-yaml reports it at the next token. */
function keyComplaint(
  { code, message, pos }: ParserError,
  more: readonly ParserError[],
  text: string,
  lineAt: (offset: number) => number,
): string | undefined {
  const [, end] = pos;
  const start = pos[0] + (/^ */.exec(text.slice(pos[0], pos[0] + longestIndent))?.[0].length ?? 0);
  if (/^-\s/.test(text.slice(start, start + 2))) return complaintAt(noKey, lineAt(start) - 1);
  if (code === 'BLOCK_AS_IMPLICIT_KEY' && beginsWithColon(text, start)) return complaintAt(noKey, lineAt(start) - 1);
  if (code === 'MISSING_CHAR' && message.startsWith('Implicit map keys'))
    return complaintAt(noColon, lineAfter(text, end, lineAt));
  if (code === 'MULTILINE_IMPLICIT_KEY')
    return complaintAt(lineAbove(text, start).aligned ? noColon : noValueHere, lineAfter(text, end, lineAt));
  const later = code === 'BLOCK_AS_IMPLICIT_KEY' && more.find((one) => one.code === 'MULTILINE_IMPLICIT_KEY');
  if (later && later.pos[0] === pos[0]) return complaintAt(noValueHere, lineAfter(text, later.pos[1], lineAt));
  if (message.startsWith('All mapping items') && /^ *-(?: |$)/.test(lineAbove(text, start).line))
    return complaintAt(noNextItem, lineAt(start) - 1);
  return undefined;
}

/** Returns the error for a tab at the beginning of a line; in go-yaml it depends on what the previous line began. */
function tabComplaint(text: string, offset: number): string {
  const before = text.slice(0, offset).trimEnd().split('\n').at(-1) ?? '';
  const value = /^\s*(?:- +)*(?:[^"'#]+?:\s+)?(.*)$/.exec(before)?.[1] ?? '';
  if (/^[|>][-+\d]*$/.test(value)) return 'found a tab character where an indentation space is expected';
  if (value === '' || value === '-' || /^["'#[{]|\s#|:$/.test(value)) return noToken;
  return 'found a tab character that violates indentation';
}

/**
 * Returns the error for a flow collection or quoted text that begins a line where a name is expected, and does not end
 * on that line. go-yaml reports the missing colon at the next token on another line, and missing closing quotes first.
 */
function longKeyComplaint(
  errors: readonly ParserError[],
  text: string,
  lineAt: (offset: number) => number,
): string | undefined {
  const [wrong] = errors;
  const key = errors.find(({ message }) => message.startsWith('Implicit map keys'));
  if (wrong === undefined || key === undefined) return undefined;
  const [start] = key.pos;
  const lineEnd = text.indexOf('\n', start) < 0 ? text.length : text.indexOf('\n', start);
  if ((wrong.pos[0] !== start && wrong.pos[0] < lineEnd) || !lineAbove(text, start).aligned) return undefined;
  const sign = text[start] ?? '';
  if (`'"`.includes(sign)) {
    const open = errors.find(({ message }) => message.startsWith('Missing closing'));
    return open && scannerComplaint(noEndOfQuotes, lineAt(open.pos[0]));
  }
  if (!'{['.includes(sign) || key.pos[1] < lineEnd) return undefined;
  return complaintAt(noColon, lineAfter(text, lineEnd, lineAt));
}

export function complaint(
  wrong: ParserError,
  more: readonly ParserError[],
  text: string,
  lineAt: (offset: number) => number,
): string {
  const { code, message, pos } = wrong;
  const line = lineAt(pos[0]);
  if (code === 'RESOURCE_EXHAUSTION') return tooDeep;
  if (message.startsWith('Missing closing') && beginsIndicator.test(text.slice(pos[0] + 1, pos[0] + 5)))
    return complaintAt('found unexpected document indicator', line + 1);
  const ofLongKey = longKeyComplaint([wrong, ...more], text, lineAt);
  if (ofLongKey !== undefined) return ofLongKey;
  const ofHeader = headerComplaint([wrong, ...more], text, lineAt);
  if (ofHeader !== undefined) return ofHeader;
  const cutOff =
    message.startsWith('Flow ') && cutOffFlow(text, { at: pos[0], isList: message.startsWith('Flow seq'), lineAt });
  if (cutOff) return cutOff;
  const inFlow = beginsFlow.test(text) || innermostFlow(text, pos[0]) !== undefined;
  if (code === 'MULTILINE_IMPLICIT_KEY' && inFlow) return complaintAt(endOf(text, pos[0]), line);
  if (code === 'TAB_AS_INDENT') return scannerComplaint(tabComplaint(text, pos[0]), line);
  const sign = text[pos[0]] ?? '';
  const closesNothing = message.includes('-end token in YAML ');
  if (closesNothing && /(?:^|[-[{,:])$/.test(text.slice(0, pos[0]).trimEnd())) return complaintAt(noContent, line - 1);
  if (code === 'UNEXPECTED_TOKEN' && !inFlow && /^\s*-\s/.test(text)) {
    const isItem = /(?:^|\n)-$/.test(text.slice(0, pos[0]).trimEnd());
    return complaintAt(isItem ? noContent : noNextItem, line - 1);
  }
  if (code === 'BAD_SCALAR_START' && sign === ',') return complaintAt(noContent, line - 1);
  if (code === 'BLOCK_AS_IMPLICIT_KEY' && sign === '?') return scannerComplaint(noKeyHere, line);
  const isHere = wantsContent(text, pos[0]);
  if (code === 'BLOCK_IN_FLOW') {
    const isMisplaced = isHere && (sign === '-' || /[,{[]\s*:\s*$/.test(text.slice(0, pos[0])));
    return complaintAt(isMisplaced ? noContent : endOf(text, pos[0]), line - 1);
  }
  if (isHere && /^(?:Flow |Unexpected : in flow)/.test(message)) return complaintAt(noContent, line - 1);
  if (closesNothing && !beginsFlow.test(text)) return complaintAt(noKey, line - 1);
  if (code === 'BAD_DQ_ESCAPE') return scannerComplaint(badEscape(message), line);
  const beginning = text.slice(text.lastIndexOf('\n', pos[0] - 1) + 1, pos[0]).trim();
  if (message.startsWith('Unexpected seq-item-ind at node end') && beginning !== '')
    return scannerComplaint(noListHere, line);
  const isKnown = message.includes('on same line');
  const ofKey = inFlow || isKnown ? undefined : keyComplaint(wrong, more, text, lineAt);
  if (ofKey !== undefined) return ofKey;
  const found: Complaint = complaints[code] ??
    byMessage.find(({ begins }) => message.startsWith(begins)) ?? {
      text: inFlow ? endOf(text, pos[0]) : noKey,
    };
  const problem = found.text === noEndOfMap ? endOf(text, pos[0]) : found.text;
  return found.scanner ? scannerComplaint(problem, line) : complaintAt(problem, line - 1);
}
