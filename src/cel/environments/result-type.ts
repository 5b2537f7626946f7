import { fullTypeText } from '../type-text.js';
import type { Type } from '../types.js';

/** What is wrong with the type of an expression's value, if it does not fit. */
export const only =
  (wanted: string, fits: (type: Type) => boolean) =>
  (type: Type): string | undefined =>
    fits(type) ? undefined : `must evaluate to ${wanted} but got ${fullTypeText(type)}`;

/** The same, if it is of none of these kinds. */
export function onlyOf(kinds: readonly Type['kind'][]): (type: Type) => string | undefined {
  const names = kinds.map((kind) => (kind === 'null' ? 'null_type' : kind));
  const wanted = names.length === 1 ? (names[0] as string) : `one of [${names.join(' ')}]`;
  return only(wanted, ({ kind }) => kinds.includes(kind));
}
