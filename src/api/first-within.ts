/** As many of them, from the first, as fit into the budget together. */
export function firstWithin<T>(items: readonly T[], budget: number, sizeOf: (item: T) => number): readonly T[] {
  let left = budget;
  const end = items.findIndex((item) => {
    left -= sizeOf(item);
    return left < 0;
  });
  return end < 0 ? items : items.slice(0, end);
}
