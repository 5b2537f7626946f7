import { isUtf8 } from 'node:buffer';
import { setImmediate as nextRound } from 'node:timers/promises';
import type { Document, LineCounter } from 'yaml';
import { type ExactJson, NumberText, plainJson, type ReadText } from './json-exact.js';
import { readJsonInSteps } from './json-text.js';
import { type Json, setMember } from './object.js';
import { sortedNames } from './text-order.js';
import {
  complaint,
  complaintAt,
  noContent,
  noEndOfQuotes,
  noToken,
  scannerComplaint,
  tooDeep,
  YamlError,
} from './yaml-complaints.js';
import { beginsFlow, endOfQuoted } from './yaml-flow.js';
import { readBefore, withIndent } from './yaml-leniency.js';
import { floatNumber, TreeReader, wholeNumber } from './yaml-tree.js';

export { YamlError } from './yaml-complaints.js';

/**
 * Reads YAML as Kubernetes does: go-yaml v2 (YAML 1.1 with exceptions), then as if it had been converted to JSON. Only
 * the first document is read; members come out sorted, because the conversion sorts them.
 */
export interface ReadYaml extends ReadText {
  readonly format: 'yaml';
  /**
   * One text with all repeated members, as strict decoding prints it:
   * `yaml: unmarshal errors:\n  line 7: key "a" already set in map`. Empty if there are none.
   */
  readonly duplicates: readonly string[];
  /** The line of what stands behind the end of the document, if anything does. Blanks, comments and `...` are nothing. */
  lineBehind(): number | undefined;
}

const strictHead = 'yaml: unmarshal errors:\n  ';

/** Texts of strict errors as warnings: one per repeated member of YAML, the others as they are. */
export const strictWarnings = (errors: readonly string[]): readonly string[] =>
  errors.flatMap((error) => (error.startsWith(strictHead) ? error.slice(strictHead.length).split('\n  ') : [error]));

/** Larger texts, and those of more words and signs than `maxLexemes`, are only read if they are JSON. */
export const maxYamlBytes = 1_048_576;
const maxLexemes = 250_000;
/**
 * Deepest nesting of what is not JSON. The parser's own recursion must never reach the end of the stack: a regular
 * expression that is compiled there ends the process.
 */
export const maxYamlDepth = 300;
/** Reading is slow, so others get their turn after so many. */
const lexemesAtOnce = 2_000;
/** Characters that may be read again because of how lines are indented. */
const maxReread = 65_536;
/** Characters of a text of which each further step takes long, too. */
const longText = 65_536;

/** Lets others have their turn while a long text is read. */
export type Pause = () => Promise<void>;

/** Reads the first document. Throws YamlError. */
export async function readYaml(source: string | Uint8Array, pause: Pause = nextRound): Promise<ReadYaml> {
  return readText(textOf(source), pause, { rereading: maxReread, mayEnd: true });
}

/** The value of the only document, in which no member may be repeated. Throws YamlError. */
export async function readStrictYaml(source: string | Uint8Array): Promise<Json> {
  const { value, duplicates, lineBehind } = await readYaml(source);
  if (duplicates.length > 0) throw new YamlError(strictWarnings(duplicates).join(', '));
  const behind = lineBehind();
  if (behind !== undefined) throw new YamlError(`must be one document: line ${behind} has more behind its end`);
  return value;
}

/** How a text may be read that the parser does not understand. */
interface Leniency {
  /** So many characters may be read again because of lines that need not have been indented. */
  readonly rereading: number;
  /** Whether what follows the end may be left out, which is done once. */
  readonly mayEnd: boolean;
}

async function readText(text: string, pause: Pause, { rereading, mayEnd }: Leniency): Promise<ReadYaml> {
  const asJson = await readAsJson(text, pause);
  if (asJson !== undefined) return asJson;
  if (text.length > maxYamlBytes) throw new YamlError(`yaml: document is larger than ${maxYamlBytes} bytes`);
  const directive = versionDirective.exec(text);
  if (directive !== null && directive[2] !== '1.1')
    throw new YamlError(complaintAt('found incompatible YAML document', breaksIn(directive[1] ?? '')));
  const end = endOfNothing.exec(text);
  if (end !== null) throw new YamlError(complaintAt(noContent, breaksIn(end[1] ?? '')));
  const yaml = await import('yaml');
  const lines = new yaml.LineCounter();
  const lineAt = (offset: number): number => lines.linePos(offset).line;
  const { document, endsInQuotes } = await firstDocument(yaml, text, lines, pause);
  const [wrong, ...more] = document?.errors ?? [];
  if (wrong !== undefined) {
    // Whatever is read again is read in a turn of its own.
    await pause();
    const before = mayEnd ? readBefore(text, wrong) : undefined;
    const complete = before && (await readText(before, pause, { rereading, mayEnd: false }).catch(unreadable));
    if (before && complete)
      return { ...complete, lineBehind: () => complete.lineBehind() ?? contentBehind(text, before.length) };
    const indented = rereading >= text.length ? withIndent(text, wrong) : undefined;
    if (indented !== undefined) return readText(indented, pause, { rereading: rereading - text.length, mayEnd });
    throw new YamlError(complaint(wrong, more, text, lineAt));
  }
  if (endsInQuotes) throw new YamlError(scannerComplaint(noEndOfQuotes, lineAt(text.length)));
  const odd = document?.warnings.find(({ code }) => code === 'BAD_DIRECTIVE');
  if (odd !== undefined) throw new YamlError(scannerComplaint('found unknown directive name', lineAt(odd.pos[0])));
  const tab = document?.contents ? -1 : text.search(/^ *\t/m);
  if (tab >= 0) throw new YamlError(scannerComplaint(noToken, lineAt(tab)));
  const isLong = text.length > longText;
  if (isLong) await pause();
  if (document !== undefined && mayContinueBlank.test(text)) keepBlankLines(yaml, document, text);
  if (document !== undefined && !text.endsWith('\n')) endWithoutBreak(yaml, document, text);
  const reader = new TreeReader({ text, lineAt, isMap: yaml.isMap, isAlias: yaml.isAlias, isPair: yaml.isPair });
  const exact = reader.read(document?.contents);
  if (isLong) await pause();
  const read = document?.range?.[2] ?? text.length;
  return finished(exact, reader.repeated, () => contentBehind(text, read));
}

/** What is wrong with a part is told of the whole. */
function unreadable(error: unknown): undefined {
  if (!(error instanceof YamlError)) throw error;
}

interface FirstDocument {
  /** Its tree; undefined if there is none. Meanings are given to scalars later. */
  readonly document: Document | undefined;
  /** Whether the text ends within quotes. The parser takes an escaped one for the closing one. */
  readonly endsInQuotes: boolean;
}

async function firstDocument(
  yaml: typeof import('yaml'),
  text: string,
  lines: LineCounter,
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
    if (lexeme.startsWith('"')) checkEscapes(lexeme, () => breaksIn(text.slice(0, parser.offset)) + 1);
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

/** The first that is made of one of many. */
function firstOf<T, R>(many: Iterable<T>, make: (one: T) => Iterable<R>): R | undefined {
  for (const one of many) for (const made of make(one)) return made;
  return undefined;
}

/** An error is made of each sign that is out of place, of which there may be many, and a stack is most of an error's cost. */
function withoutStacks<T>(act: () => T): T {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return act();
  } finally {
    Error.stackTraceLimit = before;
  }
}

/** Blank lines behind a line that is continued (a backslash at its end) stay as they are. The parser folds them. */
function keepBlankLines(yaml: typeof import('yaml'), document: Document, text: string): void {
  const escaped = (whole: string, blank?: string): string => (blank ? '\\n'.repeat(breaksIn(blank)) : whole);
  yaml.visit(document, {
    Scalar(_, node) {
      const quoted = node.type === 'QUOTE_DOUBLE' && node.range ? text.slice(node.range[0], node.range[1]) : '';
      if (mayContinueBlank.test(quoted)) node.value = yaml.parse(quoted.replace(continued, escaped));
    },
  });
}
const mayContinueBlank = /\\\r?\n[ \t]*\r?\n/;
const continued = /\\(?:\r?\n((?:[ \t]*\r?\n)+)[ \t]*|.)/gs;

/** A block of text that goes on to the end of a file without a last line break has none either. The parser adds one. */
function endWithoutBreak(yaml: typeof import('yaml'), document: Document, text: string): void {
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

/** What JSON can escape and go-yaml cannot: slashes, and characters in two halves. */
const mayEscapeOddly = /\\(?:\/|u[dD][89a-fA-F])/;
const escapes = /\\(?:(?<slash>\/)|u(?<half>[dD][89a-fA-F][\da-fA-F]{2})|.)/gs;

/** The colon of a name that is in another line, which JSON takes. */
const colonInNextLine = /"[ \t]*\n\s*:/;

/** Looks at a text in double quotes. Throws YamlError. */
function checkEscapes(quoted: string, line: () => number): void {
  if (!mayEscapeOddly.test(quoted)) return;
  for (const { groups, index } of quoted.matchAll(escapes)) {
    if (groups?.['slash'] === undefined && groups?.['half'] === undefined) continue;
    const why = groups['slash'] ? 'found unknown escape character' : 'found invalid Unicode character escape code';
    const at = line() + breaksIn(quoted.slice(0, index));
    throw new YamlError(scannerComplaint(why, at));
  }
}

const breaksIn = (text: string): number => text.split('\n').length - 1;

/** No content: nothing is lost by not reading it. */
const saysNothing = /^(?:(?:---|\.\.\.)(?=\s|$))?\s*(?:#.*)?$/;

/** The first line with content from an offset on. */
function contentBehind(text: string, end: number): number | undefined {
  const line = text
    .slice(end)
    .split('\n')
    .findIndex((one) => !saysNothing.test(one));
  return line < 0 ? undefined : breaksIn(text.slice(0, end)) + line + 1;
}

const finished = (exact: ExactJson, repeated: readonly string[], lineBehind: ReadYaml['lineBehind']): ReadYaml => ({
  format: 'yaml',
  value: plainJson(exact),
  exact,
  duplicates: repeated.length === 0 ? [] : [strictHead + repeated.join('\n  ')],
  lineBehind,
});

/** The only version there is for go-yaml. */
const versionDirective = /^((?:[ \t]*(?:#.*)?\n)*)%YAML[ \t]+(\d+\.\d+)/;

/** The end of a document before there was any. */
const endOfNothing = /^((?:[ \t]*(?:#.*)?\n)*)\.\.\.(?:\s|$)/;

const controlCharacters = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

function textOf(source: string | Uint8Array): string {
  if (typeof source !== 'string' && !isUtf8(source)) throw new YamlError('yaml: invalid leading UTF-8 octet');
  const text = typeof source === 'string' ? source : Buffer.from(source).toString('utf8');
  const whole = text.startsWith('\ufeff') ? text.slice(1) : text;
  if (controlCharacters.test(whole)) throw new YamlError('yaml: control characters are not allowed');
  const lines = whole.replaceAll(/\r\n?|\x85/g, '\n');
  return separators.test(lines) ? withoutBlanksBesideSeparators(lines) : lines;
}

/** Line breaks of YAML 1.1, which neither JSON nor YAML 1.2 has. Where lines are folded they stay, and blanks beside them go. */
const separators = /[\u2028\u2029]/;

function withoutBlanksBesideSeparators(text: string): string {
  const isBlank = (at: number): boolean => text[at] === ' ' || text[at] === '\t';
  const pieces: string[] = [];
  let from = 0;
  for (const { index } of text.matchAll(/[\u2028\u2029]/g)) {
    let end = index;
    while (end > from && isBlank(end - 1)) end--;
    pieces.push(text.slice(from, end), text[index] as string);
    from = index + 1;
    while (isBlank(from)) from++;
  }
  pieces.push(text.slice(from));
  return pieces.join('');
}

/** Bodies sent as YAML are JSON more often than not, and reading JSON is much faster. */
async function readAsJson(text: string, pause: Pause): Promise<ReadYaml | undefined> {
  if (!beginsFlow.test(text) || mayEscapeOddly.test(text) || colonInNextLine.test(text)) return undefined;
  const isLong = text.length > longText;
  try {
    const reading = readJsonInSteps(text);
    let step = reading.next();
    for (; !step.done; step = reading.next()) if (isLong) await pause();
    const { exact, duplicates } = step.value;
    if (duplicates.length > 0) return undefined;
    if (isLong) await pause();
    const whole = converted(exact);
    if (isLong) await pause();
    return finished(whole, [], () => undefined);
  } catch {
    return undefined;
  }
}

/** As after a conversion to YAML and back: members sorted, numbers that are not whole by their value. */
function converted(exact: ExactJson): ExactJson {
  if (typeof exact !== 'object' || exact === null) return exact;
  if (exact instanceof NumberText) {
    const value = Number(exact.text);
    if (/^-?\d+$/.test(exact.text)) return wholeNumber(BigInt(exact.text));
    return Number.isFinite(value) ? floatNumber(value) : exact.text;
  }
  if (Array.isArray(exact)) return (exact as readonly ExactJson[]).map(converted);
  const members = exact as { readonly [member: string]: ExactJson };
  const out: Record<string, ExactJson> = {};
  for (const name of sortedNames(members)) setMember(out, name, converted(members[name] ?? null));
  return out;
}
