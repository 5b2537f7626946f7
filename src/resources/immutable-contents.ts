import type { Steps } from '../api/steps.js';
import { forbiddenField, type Violation } from '../api/violations.js';
import { sameInSteps } from '../schema/same.js';

/** Rules that ConfigMaps and Secrets share: `immutable` cannot be unset, and the size of the contents is limited. */

/** The maximum total size in bytes of all values in one ConfigMap or Secret. */
export const maxContentBytes = 1_048_576;

interface HasImmutable {
  readonly immutable?: boolean;
}

/**
 * Returns the violations of an update of an object marked `immutable`: first of the mark itself, then of the given
 * maps. An empty map in `emptied` (see EmptyMembers) counts as changed even if it was empty before, and so does one
 * with empty bytes, which were sent as `null`: in Go, nil differs from empty.
 */
export function* validateImmutableContents<T extends HasImmutable>(
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

/** Returns the number of bytes that a base64 text decodes to. */
export function base64Bytes(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return Math.floor((text.length * 3) / 4) - padding;
}

/**
 * Returns the map with `null` values, which clients send for empty bytes, as empty strings; the same map if it has
 * none.
 */
export function withoutNulls(
  map: Readonly<Record<string, string | null>> | undefined,
): Readonly<Record<string, string>> | undefined {
  if (map === undefined) return undefined;
  const names = Object.keys(map);
  if (names.every((name) => map[name] !== null)) return map as Readonly<Record<string, string>>;
  return Object.fromEntries(names.map((name) => [name, map[name] ?? '']));
}
