/** Binary search: returns the first index from `from` up to `to` for which `isBefore` is false; `to` if there is none. */
export function firstNotBefore(from: number, to: number, isBefore: (at: number) => boolean): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
