/** The first place from `from` up to `to` that is not before what is looked for; `to` if all are. Places are in order. */
export function firstNotBefore(from: number, to: number, isBefore: (at: number) => boolean): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
