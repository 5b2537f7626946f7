import type { Source } from './source.js';

/** An error in an expression. */
export interface Issue {
  /** The position in the text, -1 if it is unknown; undefined if the error concerns the whole text. */
  readonly at: number | undefined;
  readonly message: string;
  /** The message with the position, the line and a caret below it, as cel-go prints it. */
  readonly text: string;
}

/** The length up to which lines are shown, in bytes. */
const longestShownLine = 16_384;
const mostIssues = 100;

/** Collects errors. As in cel-go, the first hundred are kept and the rest are counted. */
export class Issues {
  readonly #source: Source;
  readonly #found: { readonly at: number | undefined; readonly message: string }[] = [];
  #count = 0;

  constructor(source: Source) {
    this.#source = source;
  }

  get count(): number {
    return this.#count;
  }

  /** Adds an error. A message given as a function is computed only if the issue is kept. */
  add(at: number | undefined, message: string | (() => string)): void {
    this.#count++;
    if (this.#count > mostIssues) return;
    this.#found.push({ at, message: typeof message === 'string' ? message : message() });
  }

  /** Returns the issues in the order of their positions. */
  list(): readonly Issue[] {
    const listed = this.#found
      .map((issue) => ({ ...issue, order: issue.at ?? -2 }))
      .sort((one, other) => one.order - other.order)
      .map(({ at, message }) => ({ at, message, text: issueText(this.#source, at, message) }));
    const more = this.#count - mostIssues;
    if (more <= 0) return listed;
    const message = `${more} more errors were truncated`;
    return [...listed, { at: undefined, message, text: message }];
  }
}

function issueText(source: Source, at: number | undefined, message: string): string {
  if (at === undefined) return `ERROR: <input>:-1:0: ${message}`;
  const { line, column } = source.position(at);
  const head = `ERROR: <input>:${line}:${column + 1}: ${message}`;
  const shown = source.line(line, longestShownLine);
  if (shown === undefined || Buffer.byteLength(shown) > longestShownLine) return head;
  const points = Array.from(shown.replaceAll('\t', ' '));
  const isWide = (point: string): boolean => (point.codePointAt(0) ?? 0) > 0x7f;
  const dots = points.slice(0, Math.max(column, 0)).map((point) => (isWide(point) ? '\uff0e' : '.'));
  const caret = isWide(points[column] ?? '') ? '\uff3e' : '^';
  return `${head}\n | ${points.join('')}\n | ${dots.join('')}${caret}`;
}
