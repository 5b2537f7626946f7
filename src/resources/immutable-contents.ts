import type { Steps } from '../api/steps.js';
import { forbiddenField, type Violation } from '../api/violations.js';
import { sameInSteps } from '../schema/same.js';

/** The rules that ConfigMaps and Secrets share: marks that cannot be taken back, and the size of the contents. */

/** Most bytes that the values of one ConfigMap or Secret may have together. */
export const maxContentBytes = 1_048_576;

interface Markable {
  readonly immutable?: boolean;
}

/**
 * What an update breaks of an object marked `immutable`: the mark itself, then the given maps. One that was sent empty
 * is a change where there is none, and so are `null` bytes where bytes are empty.
 */
export function* validateImmutableContents<T extends Markable>(
  next: T,
  previous: T,
  members: readonly (keyof T & string)[],
  emptied: ReadonlySet<string> = new Set(),
): Steps<readonly Violation[]> {
  if (previous.immutable !== true) return [];
  const broken: string[] = next.immutable === true ? [] : ['immutable'];
  for (const member of members) {
    const contents = (next[member] ?? {}) as Readonly<Record<string, string>>;
    if (emptied.has(member) && isEmptied(Object.values(contents))) broken.push(member);
    else if (!(yield* sameInSteps(contents, previous[member] ?? {}))) broken.push(member);
  }
  return broken.map((member) => forbiddenField(member, 'field is immutable when `immutable` is set'));
}

const isEmptied = (values: readonly string[]): boolean => values.length === 0 || values.includes('');

/** Bytes that a base64 text stands for. */
export function base64Bytes(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return Math.floor((text.length * 3) / 4) - padding;
}

/** The map with `null` values, which clients send for empty bytes, as empty texts; the same map if there are none. */
export function withoutNulls(
  map: Readonly<Record<string, string | null>> | undefined,
): Readonly<Record<string, string>> | undefined {
  if (map === undefined) return undefined;
  const names = Object.keys(map);
  if (names.every((name) => map[name] !== null)) return map as Readonly<Record<string, string>>;
  return Object.fromEntries(names.map((name) => [name, map[name] ?? '']));
}
