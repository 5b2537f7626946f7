import { maxToldSize } from './violations.js';

/** So many complaints about the fields of one body are told, as in kube-apiserver. */
const most = 100;

/**
 * What is said of fields that nobody knows or that come twice: each text once. Each names a path, and a path is as long
 * as names of members are, so that texts are made only while there is room for them.
 */
export class Complaints {
  readonly #texts = new Set<string>();
  readonly #most: number;
  #size = 0;

  constructor(options: { readonly most?: number } = {}) {
    this.#most = options.most ?? most;
  }

  get texts(): readonly string[] {
    return [...this.#texts];
  }

  get isFull(): boolean {
    return this.#texts.size >= this.#most || this.#size > maxToldSize;
  }

  add(make: () => string): void {
    if (this.isFull) return;
    const text = make();
    // What was told already has cost as much.
    this.#size += text.length;
    this.#texts.add(text);
  }
}
