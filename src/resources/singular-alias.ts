/**
 * Merges a field that has become the first item of a list with that list, and returns both; undefined if neither is
 * set. If they differ, the field takes precedence: its writer knows no other items.
 */
export function withFirst<T>(
  one: T | undefined,
  all: readonly T[] | undefined,
): readonly [T, readonly T[]] | undefined {
  const [first] = all ?? [];
  if (one !== undefined && one !== first) return [one, [one]];
  return first === undefined || all === undefined ? undefined : [first, all];
}
