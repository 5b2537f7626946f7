import { maxViolationChars } from './violations.js';

/** The maximum number of complaints reported about the fields of one body, as in kube-apiserver. */
const most = 100;

/**
 * Collects errors about unknown and duplicate fields: each text once, unless repeats are allowed. Each contains a path, whose
 * member names may be huge, so texts are only made while there is room for them.
 */
export class Complaints {
  readonly #texts: string[] = [];
  readonly #reported: Set<string> | undefined;
  readonly #most: number;
  #size = 0;

  /** `repeats`: whether the same text is reported again. */
  constructor(options: { readonly most?: number; readonly repeats?: boolean } = {}) {
    this.#most = options.most ?? most;
    this.#reported = options.repeats ? undefined : new Set();
  }

  get texts(): readonly string[] {
    return this.#texts;
  }

  get isFull(): boolean {
    return this.#texts.length >= this.#most || this.#size > maxViolationChars;
  }

  add(make: () => string): void {
    if (this.isFull) return;
    const text = make();
    // A repeated text counts as well: making it has cost as much.
    this.#size += text.length;
    if (this.#reported?.has(text)) return;
    this.#reported?.add(text);
    this.#texts.push(text);
  }
}
