/** Returns the leading items that fit into the budget together; stops at the first that does not. */
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
