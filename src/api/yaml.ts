import { isUtf8 } from 'node:buffer';
import { setImmediate as nextRound } from 'node:timers/promises';
import type { Alias, Document, LineCounter, Node, Pair, Scalar, YAMLMap } from 'yaml';
import { quote } from './go-text.js';
import { type ExactJson, NumberText, plainJson, type ReadText } from './json-exact.js';
import { maxDepth, maxJsonValues, readJsonInSteps, sortedObject } from './json-text.js';
import { type Json, setMember } from './object.js';
import { complaint, complaintAt, noContent, noKey, noToken, scannerComplaint, tooDeep } from './yaml-complaints.js';
import { beginsFlow } from './yaml-flow.js';
import { readBefore, withIndent } from './yaml-leniency.js';
import { goFloat, resolveScalar, type YamlScalar } from './yaml-scalar.js';

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
}

/** The text is not YAML, or cannot become JSON. The message is Go's as far as the parser tells the cases apart. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
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
  return readText(textOf(source), pause, maxReread);
}

/** The value of the first document, in which no member may be repeated. Throws YamlError. */
export async function readStrictYaml(source: string | Uint8Array): Promise<Json> {
  const { value, duplicates } = await readYaml(source);
  if (duplicates.length > 0) throw new YamlError(strictWarnings(duplicates).join(', '));
  return value;
}

/** `rereading`: so many characters may be read again because of lines that need not have been indented. */
async function readText(text: string, pause: Pause, rereading: number): Promise<ReadYaml> {
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
  const document = await firstDocument(yaml, text, lines, pause);
  const [wrong, ...more] = document?.errors ?? [];
  if (wrong !== undefined) {
    // Whatever is read again is read in a turn of its own.
    await pause();
    const before = readBefore(text, wrong);
    const complete = before && (await readYaml(before, pause).catch(() => undefined));
    if (complete) return complete;
    const indented = rereading >= text.length ? withIndent(text, wrong) : undefined;
    if (indented !== undefined) return readText(indented, pause, rereading - text.length);
    throw new YamlError(complaint(wrong, more, text, lineAt));
  }
  const odd = document?.warnings.find(({ code }) => code === 'BAD_DIRECTIVE');
  if (odd !== undefined) throw new YamlError(scannerComplaint('found unknown directive name', lineAt(odd.pos[0])));
  const tab = document?.contents ? -1 : text.search(/^ *\t/m);
  if (tab >= 0) throw new YamlError(scannerComplaint(noToken, lineAt(tab)));
  const isLong = text.length > longText;
  if (isLong) await pause();
  if (document !== undefined && mayContinueBlank.test(text)) keepBlankLines(yaml, document, text);
  const hasColonAt = (offset: number): boolean => text[offset] === ':';
  const reader = new TreeReader({ lineAt, hasColonAt, isMap: yaml.isMap, isAlias: yaml.isAlias, isPair: yaml.isPair });
  const exact = reader.read(document?.contents);
  if (isLong) await pause();
  return finished(exact, reader.repeated);
}

/** The tree of the first document; undefined if there is none. Meanings are given to scalars later. */
async function firstDocument(
  yaml: typeof import('yaml'),
  text: string,
  lines: LineCounter,
  pause: Pause,
): Promise<Document | undefined> {
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
  for (const lexeme of new yaml.Lexer().lex(text)) {
    if (++count > maxLexemes) throw new YamlError('yaml: document is too complex');
    if (count % lexemesAtOnce === 0) await pause();
    if (parser.stack.length > maxYamlDepth) throw new YamlError(tooDeep);
    if (lexeme.startsWith('"')) checkEscapes(lexeme, () => breaksIn(text.slice(0, parser.offset)) + 1);
    for (const token of parser.next(lexeme)) for (const document of composer.next(token)) return document;
  }
  for (const token of parser.end()) for (const document of composer.next(token)) return document;
  for (const document of composer.end()) return document;
  return undefined;
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

/** What JSON can escape and go-yaml cannot: slashes, and characters in two halves. */
const mayEscapeOddly = /\\(?:\/|u[dD][89a-fA-F])/;
const escapes = /\\(?:(?<slash>\/)|u(?<half>[dD][89a-fA-F][\da-fA-F]{2})|.)/gs;

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

const finished = (exact: ExactJson, repeated: readonly string[]): ReadYaml => ({
  format: 'yaml',
  value: plainJson(exact),
  exact,
  duplicates: repeated.length === 0 ? [] : [strictHead + repeated.join('\n  ')],
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
  const lines = whole.replaceAll(/\r(?!\n)|\x85/g, '\n');
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
  if (!beginsFlow.test(text) || mayEscapeOddly.test(text)) return undefined;
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
    return finished(whole, []);
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
  for (const name of Object.keys(members).sort()) setMember(out, name, converted(members[name] ?? null));
  return out;
}

const largestUnsigned = 2n ** 64n - 1n;
const smallestSigned = -(2n ** 63n);

/** Kept exactly as long as 64 bits hold it; beyond that it is a float. */
function wholeNumber(value: bigint): ExactJson {
  const number = Number(value);
  if (Number.isSafeInteger(number) || value > largestUnsigned || value < smallestSigned) return number;
  return BigInt.asIntN(64, value) === value ? value : new NumberText(value.toString());
}

/** JSON does not show that a number was a float if it is whole. */
const floatNumber = (value: number): ExactJson =>
  Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63 ? wholeNumber(BigInt(value)) : value;

/** A value as Go holds it before the conversion to JSON. */
interface GoValue {
  readonly json: ExactJson;
  /** As `%#v` prints it; also tells keys apart. */
  readonly go: string;
  /** As a member's name; undefined for what cannot be one. */
  readonly name: string | undefined;
}
type Members = Map<string, { readonly key: GoValue; readonly value: GoValue }>;
type Given = Node | null | undefined;

const nothing: GoValue = { json: null, go: 'interface {}(nil)', name: undefined };
const wantsMap = 'yaml: map merge requires map or sequence of maps as the value';
const maxRepeated = 1_000;
/** Of what is only printed in an error, so much. */
const maxShown = 1_000;
const shownOf = (texts: readonly string[]): string => {
  const text = texts.join(', ');
  return text.length > maxShown ? `${text.slice(0, maxShown)}...` : text;
};

interface TreeTools {
  lineAt(offset: number): number;
  hasColonAt(offset: number): boolean;
  isMap(node: unknown): node is YAMLMap<Node | null, Node | null>;
  isAlias(node: unknown): node is Alias;
  isPair(node: unknown): node is Pair<Node | null, Node | null>;
}

/** Turns a tree into JSON, minding repeated members and aliases. */
class TreeReader {
  /** `line 7: key "a" already set in map` */
  readonly repeated: string[] = [];
  readonly #tools: TreeTools;
  readonly #targets = new Map<Node, Node>();
  readonly #open = new Set<Node>();
  #visited = 0;
  #visitedInAliases = 0;
  #aliasDepth = 0;
  #depth = 0;

  constructor(tools: TreeTools) {
    this.#tools = tools;
  }

  read(root: Given): ExactJson {
    this.#bindAliases(root, new Map());
    return this.#value(root).json;
  }

  /** An alias means the latest node before it that has the anchor. */
  #bindAliases(node: Given, anchors: Map<string, Node>): void {
    if (node === null || node === undefined) return;
    if (this.#tools.isAlias(node)) {
      const target = anchors.get(node.source);
      if (target === undefined) throw new YamlError(`yaml: unknown anchor '${node.source}' referenced`);
      this.#targets.set(node, target);
      return;
    }
    if ('anchor' in node && typeof node.anchor === 'string') anchors.set(node.anchor, node);
    for (const item of itemsOf(node)) {
      if (this.#tools.isPair(item)) {
        this.#bindAliases(item.key, anchors);
        this.#bindAliases(item.value, anchors);
      } else this.#bindAliases(item as Given, anchors);
    }
  }

  /** Small documents may consist of aliases nearly wholly, large ones hardly; go-yaml's limits. */
  #count(): void {
    // Names are visited, too.
    if (++this.#visited > 2 * maxJsonValues) throw new YamlError('yaml: document is too complex');
    if (this.#aliasDepth > 0) this.#visitedInAliases++;
    if (this.#visitedInAliases <= 100 || this.#visited <= 1_000) return;
    const beyond = Math.min(Math.max((this.#visited - 400_000) / 3_600_000, 0), 1);
    if (this.#visitedInAliases / this.#visited > 0.99 - 0.89 * beyond) {
      throw new YamlError('yaml: document contains excessive aliasing');
    }
  }

  #value(node: Given): GoValue {
    this.#depth++;
    // Aliases nest what they name, so a flat text may be a deep value.
    if (this.#depth > maxDepth) throw new YamlError(tooDeep);
    const value = this.#valueHere(node);
    this.#depth--;
    return value;
  }

  #valueHere(node: Given): GoValue {
    this.#count();
    if (node === null || node === undefined) return nothing;
    if (this.#tools.isAlias(node)) {
      if (this.#open.has(node)) throw new YamlError(`yaml: anchor '${node.source}' value contains itself`);
      this.#open.add(node);
      const value = this.#within(node, () => this.#value(this.#targets.get(node)));
      this.#open.delete(node);
      return value;
    }
    if (this.#tools.isMap(node)) return this.#mapping(node);
    return 'items' in node ? this.#list(itemsOf(node) as readonly Given[]) : scalarValue(node as Scalar);
  }

  /** What is read while an alias is followed counts as such. */
  #within<T>(alias: Given, read: () => T): T {
    const follows = this.#tools.isAlias(alias);
    if (follows) this.#aliasDepth++;
    const result = read();
    if (follows) this.#aliasDepth--;
    return result;
  }

  #list(items: readonly Given[]): GoValue {
    const values = items.map((item) => this.#value(item));
    const go = `[]interface {}{${shownOf(values.map((value) => value.go))}}`;
    return { json: values.map(({ json }) => json), go, name: undefined };
  }

  #mapping(node: YAMLMap<Node | null, Node | null>): GoValue {
    const members: Members = new Map();
    this.#fill(node, members);
    const out = new Map<string, ExactJson>();
    for (const { key, value } of members.values()) {
      if (key.name === undefined) {
        this.#checkEmptyName(node);
        const shown = value === nothing ? '<nil>' : value.go;
        throw new YamlError(`unsupported map key of type: %!s(<nil>), key: <nil>, value: ${shown}`);
      }
      out.set(key.name, value.json);
    }
    const shown = [...members.values()].map(({ key, value }) => `${key.go}:${value.go}`);
    return { json: sortedObject(out), go: `map[interface {}]interface {}{${shownOf(shown)}}`, name: undefined };
  }

  /** A colon without a name before it. */
  #checkEmptyName({ flow, items }: YAMLMap<Node | null, Node | null>): void {
    for (const { key } of items) {
      const at = key?.range?.[0];
      if (!isEmptyName(key) || at === undefined || !this.#tools.hasColonAt(at)) continue;
      throw new YamlError(complaintAt(flow ? noContent : noKey, this.#tools.lineAt(at) - 1));
    }
  }

  #fill(node: YAMLMap<Node | null, Node | null>, members: Members): void {
    for (const pair of node.items) {
      if (isMerge(pair.key)) {
        this.#merge(pair.value, members);
        continue;
      }
      const key = this.#value(pair.key);
      if (key.name === undefined && key.json !== null) throw new YamlError(`yaml: invalid map key: ${key.go}`);
      const value = this.#value(pair.value);
      if (members.has(key.go) && this.repeated.length < maxRepeated) {
        const line = this.#tools.lineAt(pair.value?.range?.[0] ?? pair.key?.range?.[0] ?? 0);
        this.repeated.push(`line ${line}: key ${key.go} already set in map`);
      }
      members.set(key.go, { key, value });
    }
  }

  /** `<<`: the members of one mapping, or of several of which the earlier ones win. */
  #merge(node: Given, members: Members): void {
    const mappingOf = (given: Given): YAMLMap<Node | null, Node | null> | undefined => {
      const target = this.#tools.isAlias(given) ? this.#targets.get(given) : given;
      return this.#tools.isMap(target) ? target : undefined;
    };
    const single = mappingOf(node);
    const sources = single !== undefined ? [node] : this.#tools.isAlias(node) ? [] : [...itemsOf(node)].reverse();
    if (sources.length === 0 && (node === null || node === undefined || !('items' in node))) {
      throw new YamlError(wantsMap);
    }
    for (const source of sources as readonly Given[]) {
      const mapping = mappingOf(source);
      if (mapping === undefined) throw new YamlError(wantsMap);
      this.#count();
      if (source !== null && source !== undefined && this.#open.has(source)) {
        throw new YamlError('yaml: anchor value contains itself');
      }
      if (source !== null && source !== undefined) this.#open.add(source);
      this.#depth++;
      if (this.#depth > maxDepth) throw new YamlError(tooDeep);
      this.#within(source, () => this.#fill(mapping, members));
      this.#depth--;
      if (source !== null && source !== undefined) this.#open.delete(source);
    }
  }
}

const itemsOf = (node: Given): readonly unknown[] =>
  node !== null && node !== undefined && 'items' in node && Array.isArray(node.items) ? node.items : [];

const tagPrefix = 'tag:yaml.org,2002:';
const isMerge = (key: Given): boolean =>
  key !== null &&
  key !== undefined &&
  'value' in key &&
  key.value === '<<' &&
  (key.tag === `${tagPrefix}merge` || ('type' in key && key.type === 'PLAIN'));

/** Tags that ask for a meaning of the text, and the kinds of scalars they name. */
const kindsByTag = new Map<string, YamlScalar['kind']>([
  ['bool', 'boolean'],
  ['int', 'integer'],
  ['float', 'float'],
  ['null', 'null'],
  ['timestamp', 'timestamp'],
]);
const tagsByKind = new Map<YamlScalar['kind'], string>([
  ...[...kindsByTag].map(([tag, kind]) => [kind, tag] as const),
  ['text', 'str'],
]);

/** Nothing is written there, not even a question mark. */
const isEmptyName = (key: Node | null): boolean =>
  key === null ||
  ('source' in key && 'type' in key && key.type === 'PLAIN' && key.source === '' && key.tag === undefined);

function scalarValue(node: Scalar): GoValue {
  const text = String(node.value ?? '');
  const tag = node.tag?.startsWith(tagPrefix) ? node.tag.slice(tagPrefix.length) : node.tag;
  if (tag === undefined) return node.type === 'PLAIN' ? goValue(resolveScalar(text)) : textValue(text);
  if (tag === 'binary') {
    const bytes = Buffer.from(text, 'base64');
    if (bytes.toString('base64') !== text.replace(/\s/g, '')) {
      throw new YamlError('yaml: !!binary value contains invalid base64 data');
    }
    return textValue(bytes.toString('utf8'));
  }
  const wanted = kindsByTag.get(tag);
  if (wanted === undefined) return textValue(text);
  const found = resolveScalar(text);
  if (found.kind === wanted) return goValue(found);
  if (wanted === 'float' && found.kind === 'integer') return goValue({ kind: 'float', value: Number(found.value) });
  throw new YamlError(`yaml: cannot decode !!${tagsByKind.get(found.kind)} \`${text}\` as a !!${tag}`);
}

const textValue = (text: string): GoValue => ({ json: text, go: quote(text), name: text });

function goValue(scalar: YamlScalar): GoValue {
  switch (scalar.kind) {
    case 'null':
      return nothing;
    case 'boolean':
      return { json: scalar.value, go: String(scalar.value), name: String(scalar.value) };
    case 'integer':
      return { json: wholeNumber(scalar.value), go: String(scalar.value), name: String(scalar.value) };
    case 'float': {
      const text = goFloat(scalar.value);
      if (Number.isFinite(scalar.value)) return { json: floatNumber(scalar.value), go: text, name: text };
      throw new YamlError(`json: unsupported value: ${nonFinite[text]}`);
    }
    default:
      return textValue(scalar.value);
  }
}
const nonFinite: Readonly<Record<string, string>> = { '.nan': 'NaN', '.inf': '+Inf', '-.inf': '-Inf' };
