import { YamlError } from './yaml-error.js';
import { TextPosition } from './yaml-position.js';
import { scanBlockScalar, scanPlain, scanQuoted } from './yaml-scalars.js';
import { scanDirective, scanName, scanTag } from './yaml-tags.js';

/**
 * Splits YAML 1.1 into tokens as libyaml does, which go-yaml is made from: with the same leniencies, limits and errors.
 */

export type TokenType =
  | 'version'
  | 'tag-directive'
  | 'document-start'
  | 'document-end'
  | 'block-list'
  | 'block-map'
  | 'block-end'
  | 'flow-list'
  | 'flow-list-end'
  | 'flow-map'
  | 'flow-map-end'
  | 'entry'
  | 'comma'
  | 'key'
  | 'value'
  | 'alias'
  | 'anchor'
  | 'tag'
  | 'scalar'
  | 'end';

export interface Token {
  readonly type: TokenType;
  /** The offset and the line (from zero) at which it begins. */
  readonly at: number;
  readonly line: number;
  /** The text of a scalar, the name of an anchor or alias, the handle of a tag, or a version. */
  readonly value?: string;
  /** The part of a tag after its handle, or the prefix of a tag directive. */
  readonly suffix?: string;
  /** Whether a scalar is plain: neither in quotes nor a block. */
  readonly isPlain?: boolean;
}

/** The beginning of something that a colon later on the line would make a key. */
interface SimpleKey {
  readonly at: number;
  readonly line: number;
  readonly column: number;
  /** The number of its token, counted from the beginning of the text. */
  readonly token: number;
  /** Whether nothing else may stand there. */
  readonly isRequired: boolean;
  isPossible: boolean;
}

/** The maximum number of characters between a key and its colon. */
const longestKey = 1_024;
/** The maximum number of tokens in a text. */
const maxTokens = 250_000;

const flowSigns: ReadonlyMap<string, TokenType> = new Map([
  ['[', 'flow-list'],
  ['{', 'flow-map'],
  [']', 'flow-list-end'],
  ['}', 'flow-map-end'],
]);
/** The characters that no plain scalar begins with, unless what follows permits it. */
const indicators = '-?:,[]{}#&*!|>\'"%@`';

/** Match what stands before a token: the rest of a line, and further lines, without and with tabs. */
const spacesAndComment = / *(?:#[^\n\u2028\u2029]*)?/y;
const blanksAndComment = /[ \t]*(?:#[^\n\u2028\u2029]*)?/y;
const linesInBlock = /(?:[\n\u2028\u2029] *(?:#[^\n\u2028\u2029]*)?)*/y;
const linesInFlow = /(?:[\n\u2028\u2029][ \t]*(?:#[^\n\u2028\u2029]*)?)*/y;

export class YamlScanner {
  readonly #position: TextPosition;
  #queue: Token[] = [];
  /** The number of tokens taken from the queue, and of all tokens. */
  #taken = 0;
  #count = 0;
  /** The column of the innermost block collection, and those of the outer ones. */
  #indent = -1;
  readonly #indents: number[] = [];
  /** The latest possible key of each flow collection, and of the block that contains them. */
  readonly #keys: SimpleKey[] = [impossible];
  /** The level of the key that begins with a token. */
  readonly #levels = new Map<number, number>();
  #isKeyAllowed = true;

  constructor(text: string) {
    this.#position = new TextPosition(text);
  }

  /** Returns the next token without taking it. Throws YamlError. */
  peek(): Token {
    while (this.#needsMore()) this.#fetch();
    return this.#queue[0] as Token;
  }

  /** Takes the token that `peek` has returned. */
  take(): Token {
    const token = this.peek();
    if (token.type !== 'end') {
      this.#queue.shift();
      this.#taken++;
    }
    return token;
  }

  /** Whether the first token is missing, or may turn out to begin a key, before which other tokens are inserted. */
  #needsMore(): boolean {
    if (this.#queue.length === 0) return true;
    const level = this.#levels.get(this.#taken);
    return level !== undefined && this.#isValid(this.#keys[level] as SimpleKey);
  }

  get #isFlow(): boolean {
    return this.#keys.length > 1;
  }

  /** Whether a colon here would end the key: it must be on the same line, and near. */
  #isValid(key: SimpleKey): boolean {
    if (!key.isPossible) return false;
    const { at, line } = this.#position;
    if (key.line === line && key.at + longestKey >= at) return true;
    if (key.isRequired) throw this.#position.error("could not find expected ':'");
    key.isPossible = false;
    return false;
  }

  /** Adds a token; at an index of the queue, if one is given that is not in the past. */
  #add(token: Token, index = -1): void {
    if (++this.#count > maxTokens) throw new YamlError('yaml: document is too complex');
    if (index < 0) this.#queue.push(token);
    else this.#queue.splice(index, 0, token);
  }

  /** Adds the token of an indicator, and skips it. */
  #addSign(type: TokenType, length = 1): void {
    const { at, line } = this.#position;
    this.#position.skip(length);
    this.#add({ type, at, line });
  }

  #fetch(): void {
    const position = this.#position;
    this.#skipToToken();
    this.#unroll(position.column);
    const indicator = position.documentIndicator();
    if (position.isEnd) this.#fetchEnd();
    else if (position.column === 0 && position.character() === '%') this.#fetchDirective();
    else if (indicator !== undefined) {
      this.#endBlocks();
      this.#addSign(indicator === '---' ? 'document-start' : 'document-end', indicator.length);
    } else if (!this.#fetchStructure(position.character())) this.#fetchContent(position.character());
  }

  /** Adds the token of an indicator that structures the text; returns whether there is one. */
  #fetchStructure(sign: string): boolean {
    const flowSign = flowSigns.get(sign);
    const isBeforeBlank = this.#position.isBlankOrEnd(1);
    const isSeparate = this.#isFlow || isBeforeBlank;
    if (flowSign !== undefined) this.#fetchFlowSign(sign, flowSign);
    else if (sign === ',') this.#fetchComma();
    else if (sign === '-' && isBeforeBlank) this.#fetchEntry();
    else if (sign === '?' && isSeparate) this.#fetchKey();
    else if (sign === ':' && isSeparate) this.#fetchValue();
    else return false;
    return true;
  }

  /** Adds the token of a scalar, or of what stands before a node. */
  #fetchContent(sign: string): void {
    const position = this.#position;
    if (sign === '*' || sign === '&') {
      this.#addKeyable(sign === '*' ? 'alias' : 'anchor', () => ({ value: scanName(position) }));
    } else if (sign === '!') this.#addKeyable('tag', () => scanTag(position));
    else if ((sign === '|' || sign === '>') && !this.#isFlow) this.#fetchBlockScalar(sign);
    else if (sign === "'" || sign === '"')
      this.#addKeyable('scalar', () => ({ value: scanQuoted(position, sign), isPlain: false }));
    else this.#fetchPlain(sign);
  }

  #fetchPlain(sign: string): void {
    const isFlow = this.#isFlow;
    const mayBegin = !indicators.includes(sign) || sign === '-' || (!isFlow && (sign === '?' || sign === ':'));
    if (!mayBegin || this.#position.isBlank())
      throw this.#position.error('found character that cannot start any token');
    this.#addKeyable('scalar', () => {
      const { value, endsLine } = scanPlain(this.#position, { isFlow, indent: this.#indent + 1 });
      if (endsLine) this.#isKeyAllowed = true;
      return { value, isPlain: true };
    });
  }

  /** Skips blanks, line breaks and comments. Tabs are no blanks where a key may begin. */
  #skipToToken(): void {
    const position = this.#position;
    position.take(this.#isFlow || !this.#isKeyAllowed ? blanksAndComment : spacesAndComment);
    if (!position.isBreak()) return;
    position.takeLines(this.#isFlow ? linesInFlow : linesInBlock);
    if (!this.#isFlow) this.#isKeyAllowed = true;
  }

  /** Remembers that a key may begin here. */
  #keepKey(): void {
    if (!this.#isKeyAllowed) return;
    const { at, line, column } = this.#position;
    this.#dropKey();
    const token = this.#taken + this.#queue.length;
    const isRequired = !this.#isFlow && this.#indent === column;
    const level = this.#keys.length - 1;
    this.#keys[level] = { at, line, column, token, isRequired, isPossible: true };
    this.#levels.set(token, level);
  }

  #dropKey(): void {
    const key = this.#keys.at(-1) as SimpleKey;
    if (!key.isPossible) return;
    if (key.isRequired) throw this.#position.error("could not find expected ':'");
    key.isPossible = false;
    this.#levels.delete(key.token);
  }

  /** Begins a block collection if the column is beyond that of the innermost one. */
  #roll(type: TokenType, { at, line, column }: Pick<SimpleKey, 'at' | 'line' | 'column'>, token = -1): void {
    if (this.#isFlow || this.#indent >= column) return;
    this.#indents.push(this.#indent);
    this.#indent = column;
    this.#add({ type, at, line }, token < 0 ? token : token - this.#taken);
  }

  /** Ends the block collections that begin right of the column. */
  #unroll(column: number): void {
    if (this.#isFlow) return;
    const { at, line } = this.#position;
    while (this.#indent > column) {
      this.#add({ type: 'block-end', at, line });
      this.#indent = this.#indents.pop() ?? -1;
    }
  }

  /** Ends everything that a line at the beginning of a document ends. */
  #endBlocks(): void {
    this.#unroll(-1);
    this.#dropKey();
    this.#isKeyAllowed = false;
  }

  #fetchEnd(): void {
    const position = this.#position;
    position.endLine();
    this.#endBlocks();
    const { at, line } = position;
    this.#add({ type: 'end', at, line });
  }

  #fetchDirective(): void {
    this.#endBlocks();
    const { at, line } = this.#position;
    this.#add({ at, line, ...scanDirective(this.#position) });
  }

  #fetchFlowSign(sign: string, type: TokenType): void {
    const isStart = sign === '[' || sign === '{';
    if (isStart) {
      this.#keepKey();
      this.#keys.push({ ...impossible, token: this.#taken + this.#queue.length });
    } else {
      this.#dropKey();
      if (this.#isFlow) this.#levels.delete((this.#keys.pop() as SimpleKey).token);
    }
    this.#isKeyAllowed = isStart;
    this.#addSign(type);
  }

  #fetchComma(): void {
    this.#dropKey();
    this.#isKeyAllowed = true;
    this.#addSign('comma');
  }

  #fetchEntry(): void {
    if (!this.#isFlow && !this.#isKeyAllowed)
      throw this.#position.error('block sequence entries are not allowed in this context');
    this.#roll('block-list', this.#position);
    this.#dropKey();
    this.#isKeyAllowed = true;
    this.#addSign('entry');
  }

  #fetchKey(): void {
    if (!this.#isFlow && !this.#isKeyAllowed)
      throw this.#position.error('mapping keys are not allowed in this context');
    this.#roll('block-map', this.#position);
    this.#dropKey();
    this.#isKeyAllowed = !this.#isFlow;
    this.#addSign('key');
  }

  #fetchValue(): void {
    const key = this.#keys.at(-1) as SimpleKey;
    if (this.#isValid(key)) {
      const { at, line, token } = key;
      this.#add({ type: 'key', at, line }, token - this.#taken);
      this.#roll('block-map', key, token);
      key.isPossible = false;
      this.#levels.delete(token);
      this.#isKeyAllowed = false;
    } else {
      if (!this.#isFlow && !this.#isKeyAllowed)
        throw this.#position.error('mapping values are not allowed in this context');
      this.#roll('block-map', this.#position);
      this.#isKeyAllowed = !this.#isFlow;
    }
    this.#addSign('value');
  }

  /** Adds a token that may begin a key. */
  #addKeyable(type: TokenType, scan: () => Pick<Token, 'value' | 'suffix' | 'isPlain'>): void {
    this.#keepKey();
    this.#isKeyAllowed = false;
    const { at, line } = this.#position;
    this.#add({ type, at, line, ...scan() });
  }

  #fetchBlockScalar(sign: '|' | '>'): void {
    this.#dropKey();
    this.#isKeyAllowed = true;
    const { at, line } = this.#position;
    const value = scanBlockScalar(this.#position, { isFolded: sign === '>', parentIndent: this.#indent });
    this.#add({ type: 'scalar', at, line, value, isPlain: false });
  }
}

const impossible: SimpleKey = { at: 0, line: 0, column: 0, token: 0, isRequired: false, isPossible: false };
