/** The text of an expression, with positions counted in code points. */
export class Source {
  readonly #points: Uint32Array;
  /** The text itself if every code point is one UTF-16 unit; undefined otherwise. */
  readonly #text: string | undefined;
  /** The position at which each line begins. */
  readonly #lines: readonly number[];

  constructor(text: string) {
    const points = new Uint32Array(text.length);
    const lines = [0];
    let length = 0;
    for (let index = 0; index < text.length; index++) {
      const point = text.codePointAt(index) ?? 0;
      if (point > 0xffff) index++;
      points[length++] = point;
      if (point === 0x0a) lines.push(length);
    }
    this.#points = points.subarray(0, length);
    this.#text = length === text.length ? text : undefined;
    this.#lines = lines;
  }

  get length(): number {
    return this.#points.length;
  }

  /** Returns the code point at a position; undefined beyond the end. */
  point(at: number): number | undefined {
    return this.#points[at];
  }

  slice(from: number, to: number): string {
    if (this.#text !== undefined) return this.#text.slice(from, to);
    const end = Math.min(to, this.length);
    let text = '';
    for (let start = from; start < end; start += 1000) {
      text += String.fromCodePoint(...this.#points.subarray(start, Math.min(start + 1000, end)));
    }
    return text;
  }

  /** Returns the line, counted from 1, and the column, counted from 0, of a position. An empty text has column -1. */
  position(at: number): { readonly line: number; readonly column: number } {
    if (this.length === 0) return { line: 1, column: -1 };
    let line = this.#lines.length;
    while (line > 1 && (this.#lines[line - 1] ?? 0) > at) line--;
    return { line, column: at - (this.#lines[line - 1] ?? 0) };
  }

  /**
   * Returns a line without its end, counted from 1; undefined if there is none, or if it has more than `most` code
   * points.
   */
  line(line: number, most: number): string | undefined {
    const start = this.#lines[line - 1];
    const next = this.#lines[line];
    if (start === undefined || this.length === 0) return undefined;
    const end = next === undefined ? this.length : next - 1;
    return end - start > most ? undefined : this.slice(start, end);
  }
}
