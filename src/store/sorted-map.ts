import { firstNotBefore } from '../api/binary-search.js';

/** A run of neighbouring keys in a map, in order; never empty. */
interface Block<V> {
  readonly keys: string[];
  readonly values: V[];
}

/** The keys from `low` up to but not including `high`; without `high`, to the end. */
export interface KeyRange {
  readonly low: string;
  readonly high?: string | undefined;
}

/** The position of a key, or where it would be inserted. */
interface Position {
  readonly block: number;
  readonly at: number;
}

/**
 * A map in the order of its keys as JavaScript compares strings, split into blocks of up to some hundred keys. Finding
 * and changing a key takes about logarithmic time, and counting a range takes one addition per block.
 */
export class SortedMap<V> {
  readonly #maxLength: number;
  readonly #blocks: Block<V>[] = [];
  #size = 0;

  /** `maxLength` is the maximum number of keys in a block, at least two. */
  constructor(maxLength = 512) {
    this.#maxLength = maxLength;
  }

  get size(): number {
    return this.#size;
  }

  get(key: string): V | undefined {
    const { block, at } = this.#find(key);
    const found = this.#blocks[block];
    return found?.keys[at] === key ? found.values[at] : undefined;
  }

  set(key: string, value: V): void {
    const { block, at } = this.#find(key);
    const found = this.#blocks[block];
    if (found?.keys[at] === key) {
      found.values[at] = value;
      return;
    }
    this.#size++;
    const isLast = block >= this.#blocks.length - 1 && at === (found?.keys.length ?? 0);
    if (found === undefined || (isLast && at === this.#maxLength)) {
      // Keys often arrive in order; then the blocks before stay full.
      this.#blocks.push({ keys: [key], values: [value] });
      return;
    }
    found.keys.splice(at, 0, key);
    found.values.splice(at, 0, value);
    if (found.keys.length <= this.#maxLength) return;
    const half = found.keys.length >>> 1;
    this.#blocks.splice(block + 1, 0, { keys: found.keys.splice(half), values: found.values.splice(half) });
  }

  /** Deletes a key; returns whether it was there. */
  delete(key: string): boolean {
    const { block, at } = this.#find(key);
    const found = this.#blocks[block];
    if (found?.keys[at] !== key) return false;
    this.#size--;
    found.keys.splice(at, 1);
    found.values.splice(at, 1);
    if (found.keys.length === 0) this.#blocks.splice(block, 1);
    else {
      this.#join(block - 1);
      this.#join(block);
    }
    return true;
  }

  /** Returns the number of keys in a range. */
  count(range: KeyRange): number {
    const [from, to] = this.#ends(range);
    let count = to.at - from.at;
    for (let block = from.block; block < to.block; block++) count += this.#blocks[block]?.keys.length ?? 0;
    return count;
  }

  /**
   * Calls `each` in order until it returns true; returns the key it stopped at. The map must not be changed meanwhile.
   */
  each(range: KeyRange, each: (key: string, value: V) => boolean): string | undefined {
    const [from, to] = this.#ends(range);
    for (let block = from.block; block <= to.block; block++) {
      const { keys, values } = this.#blocks[block] ?? { keys: [], values: [] };
      const end = block === to.block ? to.at : keys.length;
      for (let at = block === from.block ? from.at : 0; at < end; at++) {
        const key = keys[at] as string;
        if (each(key, values[at] as V)) return key;
      }
    }
    return undefined;
  }

  /** Merges a block with the next one if both are small, so that deletions never leave many small blocks. */
  #join(block: number): void {
    const [left, right] = [this.#blocks[block], this.#blocks[block + 1]];
    if (left === undefined || right === undefined) return;
    if (left.keys.length + right.keys.length > this.#maxLength >>> 1) return;
    left.keys.push(...right.keys);
    left.values.push(...right.values);
    this.#blocks.splice(block + 1, 1);
  }

  #ends({ low, high }: KeyRange): readonly [Position, Position] {
    if (high === undefined) return [this.#find(low), { block: this.#blocks.length, at: 0 }];
    return [this.#find(low), this.#find(high < low ? low : high)];
  }

  /** Finds a key in the last block whose first key is not after it; in the first block if the key is before all. */
  #find(key: string): Position {
    const block = firstNotBefore(1, this.#blocks.length, (at) => (this.#blocks[at]?.keys[0] as string) <= key) - 1;
    const keys = this.#blocks[block]?.keys ?? [];
    return { block, at: firstNotBefore(0, keys.length, (at) => (keys[at] as string) < key) };
  }
}
