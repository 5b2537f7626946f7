/** As many of them, from the first, as fit into the budget together; nothing behind those is looked at. */
export function takeWithinBudget<T>(items: Iterable<T>, budget: number, sizeOf: (item: T) => number): readonly T[] {
  const first: T[] = [];
  let left = budget;
  for (const item of items) {
    left -= sizeOf(item);
    if (left < 0) break;
    first.push(item);
  }
  return first;
}
