import { noOldValue, type OldValue, oldMember } from '../ratchet.js';
import type { Schema } from '../schema.js';

/** Correlates values with their stored counterparts. */

/** A value with its stored counterpart. */
interface Correlated {
  readonly value: unknown;
  readonly old: OldValue;
  readonly schema: Schema;
}
/** The stored counterparts of a value and its parents. */
export interface Correlation {
  readonly here: Correlated | undefined;
  /** The counterpart of the nearest parent that has one. */
  readonly above: Correlated | undefined;
}

/** Returns the correlation of a member. */
export function memberOf({ here, above }: Correlation, name: string, schema: Schema): Correlation {
  if (here === undefined) return { here, above };
  // Both versions of an object are decoded as the same kind.
  if (above === undefined && (name === 'apiVersion' || name === 'kind')) return { here: undefined, above: undefined };
  const old = oldMember(here.old, name);
  const value = oldMember(here.value, name);
  return { here: old === noOldValue ? undefined : { value, old, schema }, above: here };
}
