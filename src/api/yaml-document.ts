import type * as Yaml from 'yaml';
import { scannerComplaint, tooDeep, YamlError } from './yaml-complaints.js';
import { endOfQuoted } from './yaml-flow.js';

/** Parses the first document of a text into a tree, and corrects differences between the parser and go-yaml. */

/** The maximum number of tokens in a text. */
const maxLexemes = 250_000;
/**
 * The maximum nesting of YAML that is not JSON. The parser's recursion must never reach the end of the stack: a regular
 * expression that is compiled there ends the process.
 */
export const maxYamlDepth = 300;
/** The number of tokens between pauses, because parsing is slow. */
const lexemesAtOnce = 2_000;

/** Yields to other work while a long text is read. */
export type Pause = () => Promise<void>;

interface FirstDocument {
  /** The tree of the document; undefined if there is none. Scalars are resolved later. */
  readonly document: Yaml.Document | undefined;
  /** Whether the text ends within quotes: the parser mistakes an escaped quote for the closing one. */
  readonly endsInQuotes: boolean;
}

/** Parses the first document only. Throws YamlError for what the parser accepts and go-yaml does not. */
export async function firstDocument(
  yaml: typeof Yaml,
  text: string,
  lines: Yaml.LineCounter,
  pause: Pause,
): Promise<FirstDocument> {
  const parser = new yaml.Parser(lines.addNewLine);
  const composer = new yaml.Composer({
    version: '1.1',
    schema: 'failsafe',
    merge: false,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  });
  lines.addNewLine(0);
  let count = 0;
  let last = '';
  for (const lexeme of new yaml.Lexer().lex(text)) {
    if (++count > maxLexemes) throw new YamlError('yaml: document is too complex');
    if (count % lexemesAtOnce === 0) await pause();
    if (parser.stack.length > maxYamlDepth) throw new YamlError(tooDeep);
    if (lexeme.startsWith('"')) checkEscapes(lexeme, () => countLineBreaks(text.slice(0, parser.offset)) + 1);
    const document = withoutStacks(() => firstOf(parser.next(lexeme), (token) => composer.next(token)));
    if (document !== undefined) return { document, endsInQuotes: false };
    last = lexeme;
  }
  const endsInQuotes = /^["']/.test(last) && endOfQuoted(last, 1, last[0] ?? '') === last.length;
  const document = withoutStacks(() => {
    const found = firstOf(parser.end(), (token) => composer.next(token));
    return found ?? firstOf([undefined], () => composer.end());
  });
  return { document, endsInQuotes };
}

/** Returns the first result made from any of the inputs. */
function firstOf<T, R>(many: Iterable<T>, make: (one: T) => Iterable<R>): R | undefined {
  for (const one of many) for (const result of make(one)) return result;
  return undefined;
}

/**
 * Runs a function whose errors have no stack traces. The parser makes an error for each misplaced token, of which there
 * may be many, and most of the cost of an error is its stack.
 */
function withoutStacks<T>(act: () => T): T {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return act();
  } finally {
    Error.stackTraceLimit = before;
  }
}

/** Corrects texts to what go-yaml reads. */
export function fixScalarText(yaml: typeof Yaml, document: Yaml.Document, text: string): void {
  if (mayContinueBlank.test(text)) keepBlankLines(yaml, document, text);
  if (!text.endsWith('\n')) endWithoutBreak(yaml, document, text);
}

/** Keeps blank lines after a line continuation (a backslash at its end), which the parser folds. */
function keepBlankLines(yaml: typeof Yaml, document: Yaml.Document, text: string): void {
  const escaped = (matched: string, blank?: string): string => (blank ? '\\n'.repeat(countLineBreaks(blank)) : matched);
  yaml.visit(document, {
    Scalar(_, node) {
      const quoted = node.type === 'QUOTE_DOUBLE' && node.range ? text.slice(node.range[0], node.range[1]) : '';
      if (mayContinueBlank.test(quoted)) node.value = yaml.parse(quoted.replace(continued, escaped));
    },
  });
}
const mayContinueBlank = /\\\r?\n[ \t]*\r?\n/;
const continued = /\\(?:\r?\n((?:[ \t]*\r?\n)+)[ \t]*|.)/gs;

/** Removes the final line break of a block scalar at the end of a text without one, where the parser adds it. */
function endWithoutBreak(yaml: typeof Yaml, document: Yaml.Document, text: string): void {
  let last: unknown = document.contents;
  while (yaml.isCollection(last)) {
    const item: unknown = last.items.at(-1);
    last = yaml.isPair(item) ? item.value : item;
  }
  if (!yaml.isScalar(last) || !last.type?.startsWith('BLOCK') || last.range?.[1] !== text.length) return;
  const value = String(last.value);
  const isInLastLine = /\S/.test(text.slice(text.lastIndexOf('\n'))) || /(?:^|\n)[ \t]+\n$/.test(value);
  if (isInLastLine && value.endsWith('\n')) last.value = value.slice(0, -1);
}

/** Matches escapes that JSON has and go-yaml does not: slashes and surrogates. */
export const mayHaveJsonEscapes = /\\(?:\/|u[dD][89a-fA-F])/;
const escapes = /\\(?:(?<slash>\/)|u(?<half>[dD][89a-fA-F][\da-fA-F]{2})|.)/gs;

/** Checks the escapes of a text in double quotes. Throws YamlError. */
function checkEscapes(quoted: string, line: () => number): void {
  if (!mayHaveJsonEscapes.test(quoted)) return;
  for (const { groups, index } of quoted.matchAll(escapes)) {
    if (groups?.['slash'] === undefined && groups?.['half'] === undefined) continue;
    const problem = groups['slash'] ? 'found unknown escape character' : 'found invalid Unicode character escape code';
    const at = line() + countLineBreaks(quoted.slice(0, index));
    throw new YamlError(scannerComplaint(problem, at));
  }
}

export const countLineBreaks = (text: string): number => text.split('\n').length - 1;
