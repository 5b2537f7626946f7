/** Returns the leading items that fit into the budget together; stops at the first that does not. */
export function takeWithinBudget<T>(items: Iterable<T>, budget: number, sizeOf: (item: T) => number): readonly T[] {
  const first: T[] = [];
  let remaining = budget;
  for (const item of items) {
    remaining -= sizeOf(item);
    if (remaining < 0) break;
    first.push(item);
  }
  return first;
}
