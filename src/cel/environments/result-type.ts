import { fullTypeText } from '../type-text.js';
import type { Type } from '../types.js';

/** Returns an error for an expression whose type does not fit; undefined otherwise. */
export const requireType =
  (wanted: string, fits: (type: Type) => boolean) =>
  (type: Type): string | undefined =>
    fits(type) ? undefined : `must evaluate to ${wanted} but got ${fullTypeText(type)}`;

/** Requires a type of one of these kinds. */
export function requireKind(kinds: readonly Type['kind'][]): (type: Type) => string | undefined {
  const names = kinds.map((kind) => (kind === 'null' ? 'null_type' : kind));
  const wanted = names.length === 1 ? (names[0] as string) : `one of [${names.join(' ')}]`;
  return requireType(wanted, ({ kind }) => kinds.includes(kind));
}
