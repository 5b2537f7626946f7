import { itemsPerStep, type Steps } from '../api/steps.js';

/**
 * Whether two JSON values are equal. Numbers are compared by value; the order of members does not matter. Not
 * recursive, so any depth is safe.
 */
export const same = (left: unknown, right: unknown): boolean =>
  left === right || (compared([left, right], Number.POSITIVE_INFINITY) ?? true);

/** Like `same`, in steps for values of any size. */
export function* sameInSteps(left: unknown, right: unknown): Steps<boolean> {
  const waiting = [left, right];
  for (;;) {
    const found = compared(waiting, itemsPerStep);
    if (found !== undefined) return found;
    yield;
  }
}

/** Compares at most `most` pairs and their parts; undefined if some are left. */
function compared(waiting: unknown[], most: number): boolean | undefined {
  for (let count = 0; count < most && waiting.length > 0; count++) {
    const b = waiting.pop();
    const a = waiting.pop();
    if (a === b || isSameWhole(a, b)) continue;
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
    if (Array.isArray(a) || Array.isArray(b)) {
      if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
      for (let i = 0; i < a.length; i++) waiting.push(a[i], b[i]);
      continue;
    }
    const left = a as Readonly<Record<string, unknown>>;
    const right = b as Readonly<Record<string, unknown>>;
    const names = Object.keys(left);
    if (names.length !== Object.keys(right).length) return false;
    for (const name of names) {
      if (!Object.hasOwn(right, name)) return false;
      waiting.push(left[name], right[name]);
    }
  }
  return waiting.length === 0 ? true : undefined;
}

/** Whether two numbers are the same integer; a large integer is a bigint or a double, depending on its origin. */
const isSameWhole = (a: unknown, b: unknown): boolean =>
  // biome-ignore lint/suspicious/noDoubleEquals: compares bigints and doubles exactly.
  ((typeof a === 'bigint' && typeof b === 'number') || (typeof a === 'number' && typeof b === 'bigint')) && a == b;
