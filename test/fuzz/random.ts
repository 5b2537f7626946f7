/** Random numbers determined by a seed. */
export interface Random {
  /** Returns an integer from 0 up to, not including, `below`. */
  below(below: number): number;
  /** Returns true once in this many times, on average. */
  oneIn(times: number): boolean;
  pick<T>(items: readonly T[]): T;
}

/** Mulberry32: small, fast, and good enough for choosing what to break. */
export function randomFrom(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (limit: number): number => (limit <= 1 ? 0 : next() % limit);
  return {
    below,
    oneIn: (times) => below(times) === 0,
    pick: <T>(items: readonly T[]): T => items[below(items.length)] as T,
  };
}
