import { code } from './json-scan.js';
import { scannerError, type YamlError } from './yaml-error.js';

/** A position in a YAML text, with its line and column. */
export class TextPosition {
  readonly text: string;
  /** The offset, and the line, counted from zero. */
  at = 0;
  line = 0;
  #lineStart = 0;

  constructor(text: string) {
    this.text = text;
  }

  get column(): number {
    return this.at - this.#lineStart;
  }

  get isEnd(): boolean {
    return this.at >= this.text.length;
  }

  /** Returns the character at a distance, '' beyond the end. */
  character(distance = 0): string {
    return this.text[this.at + distance] ?? '';
  }

  /** Whether there is a line break of YAML 1.1. Others were normalized. */
  isBreak(distance = 0): boolean {
    return isBreak(this.text.charCodeAt(this.at + distance));
  }

  /** Whether there is a space or a tab. */
  isBlank(distance = 0): boolean {
    const character = this.text.charCodeAt(this.at + distance);
    return character === code.space || character === code.tab;
  }

  isBlankOrEnd(distance = 0): boolean {
    return this.isBlank(distance) || this.isBreak(distance) || this.at + distance >= this.text.length;
  }

  /** Returns the document indicator at the beginning of a line. */
  documentIndicator(): '---' | '...' | undefined {
    if (this.column !== 0 || !this.isBlankOrEnd(3)) return undefined;
    return indicators.find((indicator) => this.text.startsWith(indicator, this.at));
  }

  /** Skips characters other than line breaks. */
  skip(count: number): void {
    this.at += count;
  }

  /** Skips spaces and tabs. */
  skipBlanks(): void {
    this.take(blanks);
  }

  /** Skips the line up to its break. */
  skipLine(): void {
    this.take(restOfLine);
  }

  /** Skips and returns the match of a sticky pattern, which contains no line breaks; '' if there is none. */
  take(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? '';
    this.at += found.length;
    return found;
  }

  /** Like `take`, for a pattern that may contain line breaks. */
  takeLines(pattern: RegExp): string {
    const start = this.at;
    const found = this.take(pattern);
    for (let at = start; at < this.at; at++) {
      if (!isBreak(this.text.charCodeAt(at))) continue;
      this.line++;
      this.#lineStart = at + 1;
    }
    return found;
  }

  /** Skips a line break if there is one, and returns it. */
  readBreak(): string {
    if (!this.isBreak()) return '';
    const found = this.character();
    this.at++;
    this.line++;
    this.#lineStart = this.at;
    return found;
  }

  /** Returns an error at this line. */
  error(problem: string): YamlError {
    return scannerError(problem, this.line);
  }

  /** Counts the end of the text as a line break if it does not follow one. */
  endLine(): void {
    if (this.column === 0) return;
    this.line++;
    this.#lineStart = this.at;
  }
}

const indicators = ['---', '...'] as const;
const lineSeparator = 0x2028;
const paragraphSeparator = 0x2029;
const isBreak = (character: number): boolean =>
  character === code.newline || character === lineSeparator || character === paragraphSeparator;
const blanks = /[ \t]*/y;
const restOfLine = /[^\n\u2028\u2029]*/y;
