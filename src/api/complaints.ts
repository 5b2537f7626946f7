import { maxViolationChars } from './violations.js';

/** So many complaints about the fields of one body are told, as in kube-apiserver. */
const most = 100;

/**
 * What is said of fields that nobody knows or that come twice: each text once, unless they may repeat. Each names a path,
 * and a path is as long as names of members are, so that texts are made only while there is room for them.
 */
export class Complaints {
  readonly #texts: string[] = [];
  readonly #told: Set<string> | undefined;
  readonly #most: number;
  #size = 0;

  /** `repeats`: the same text may be told again. */
  constructor(options: { readonly most?: number; readonly repeats?: boolean } = {}) {
    this.#most = options.most ?? most;
    this.#told = options.repeats ? undefined : new Set();
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
    // What was told already has cost as much.
    this.#size += text.length;
    if (this.#told?.has(text)) return;
    this.#told?.add(text);
    this.#texts.push(text);
  }
}
