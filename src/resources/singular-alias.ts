/**
 * A field that has become the first item of a list, and the list: both are told. Where they differ, who tells the one
 * field knows no other. undefined: neither was told.
 */
export function withFirst<T>(
  one: T | undefined,
  all: readonly T[] | undefined,
): readonly [T, readonly T[]] | undefined {
  const [first] = all ?? [];
  if (one !== undefined && one !== first) return [one, [one]];
  return first === undefined || all === undefined ? undefined : [first, all];
}
