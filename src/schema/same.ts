/** Are two JSON values equal? Order of members does not matter. Nesting is no danger: there is no recursion. */
export function same(left: unknown, right: unknown): boolean {
  const waiting: unknown[] = [left, right];
  while (waiting.length > 0) {
    const b = waiting.pop();
    const a = waiting.pop();
    if (a === b) continue;
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
    if (Array.isArray(a) || Array.isArray(b)) {
      if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
      for (let i = 0; i < a.length; i++) waiting.push(a[i], b[i]);
      continue;
    }
    const ours = a as Readonly<Record<string, unknown>>;
    const theirs = b as Readonly<Record<string, unknown>>;
    const names = Object.keys(ours);
    if (names.length !== Object.keys(theirs).length) return false;
    for (const name of names) {
      if (!Object.hasOwn(theirs, name)) return false;
      waiting.push(ours[name], theirs[name]);
    }
  }
  return true;
}
