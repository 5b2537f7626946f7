import { fullTypeText } from '../type-text.js';
import type { Type } from '../types.js';

/** Returns an error for an expression whose type does not fit; undefined otherwise. */
export const requireType =
  (expected: string, fits: (type: Type) => boolean) =>
  (type: Type): string | undefined =>
    fits(type) ? undefined : `must evaluate to ${expected} but got ${fullTypeText(type)}`;

/** Requires a type of one of these kinds. */
export function requireKind(kinds: readonly Type['kind'][]): (type: Type) => string | undefined {
  const names = kinds.map((kind) => (kind === 'null' ? 'null_type' : kind));
  const expected = names.length === 1 ? (names[0] as string) : `one of [${names.join(' ')}]`;
  return requireType(expected, ({ kind }) => kinds.includes(kind));
}
