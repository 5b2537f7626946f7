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
  readonly current: Correlated | undefined;
  /** The counterpart of the nearest parent that has one. */
  readonly ancestor: Correlated | undefined;
}

/** Returns the correlation of a member. */
export function memberOf({ current, ancestor }: Correlation, name: string, schema: Schema): Correlation {
  if (current === undefined) return { current, ancestor };
  // Both versions of an object are decoded as the same kind.
  if (ancestor === undefined && (name === 'apiVersion' || name === 'kind'))
    return { current: undefined, ancestor: undefined };
  const old = oldMember(current.old, name);
  const value = oldMember(current.value, name);
  return { current: old === noOldValue ? undefined : { value, old, schema }, ancestor: current };
}
