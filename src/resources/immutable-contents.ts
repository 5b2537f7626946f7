import { forbiddenField, type Violation } from '../api/violations.js';
import { same } from '../schema/same.js';
import { inOrderOfNames } from '../schema/sorted.js';

/** The rules that ConfigMaps and Secrets share: marks that cannot be taken back, and the size of the contents. */

/** Most bytes that the values of one ConfigMap or Secret may have together. */
export const maxContentBytes = 1_048_576;

interface Markable {
  readonly immutable?: boolean;
}

/** What an update breaks of an object marked `immutable`: the mark itself, then the given maps. */
export function validateImmutableContents<T extends Markable>(
  next: T,
  previous: T | undefined,
  members: readonly (keyof T & string)[],
): readonly Violation[] {
  if (previous?.immutable !== true) return [];
  const broken = [
    ...(next.immutable === true ? [] : ['immutable']),
    ...members.filter((member) => !same(next[member] ?? {}, previous[member] ?? {})),
  ];
  return broken.map((member) => forbiddenField(member, 'field is immutable when `immutable` is set'));
}

/** Entries of a map in the order of their keys, so that errors come in the same order every time. */
export function sortedEntries<V>(map: Readonly<Record<string, V>> | undefined): readonly (readonly [string, V])[] {
  const entries = Object.entries(map ?? {});
  if (map === undefined || inOrderOfNames(entries)) return entries;
  // Many names are sorted several times faster without a function that compares them.
  const names = entries.map(([name]) => name).sort();
  return names.map((name) => [name, map[name] as V]);
}

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
  const entries = Object.entries(map);
  if (entries.every(([, value]) => value !== null)) return map as Readonly<Record<string, string>>;
  return Object.fromEntries(entries.map(([key, value]) => [key, value ?? '']));
}
