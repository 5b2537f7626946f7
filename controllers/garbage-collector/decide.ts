import type { OwnerReference } from '../../src/api/object.js';
import { foregroundFinalizer, type Node, orphanFinalizer } from './owner-graph.js';

/** The state of an owner. `waiting`: it is being deleted and waits for its dependents to go first. */
export type OwnerState = 'solid' | 'absent' | 'waiting';

export interface OwnerFinding {
  readonly reference: OwnerReference;
  readonly state: OwnerState;
}

export type Verdict =
  | { readonly do: 'nothing' }
  /** An owner still exists: only the references to the others are removed. */
  | { readonly do: 'disown'; readonly owners: readonly OwnerReference[] }
  | {
      readonly do: 'delete';
      readonly policy: 'Background' | 'Foreground' | 'Orphan';
      /** First stop the object from blocking its owners, because its dependents form a cycle. */
      readonly unblock: boolean;
    };

/** Decides what to do with an object, given the states of its owners. */
export function decide(input: {
  readonly findings: readonly OwnerFinding[];
  readonly finalizers: readonly string[];
  readonly dependents: readonly Node[];
}): Verdict {
  const { findings, finalizers, dependents } = input;
  if (findings.length === 0) return { do: 'nothing' };
  const solid = findings.filter(({ state }) => state === 'solid');
  const lost = findings.filter(({ state }) => state !== 'solid').map(({ reference }) => reference);
  if (solid.length > 0) return lost.length === 0 ? { do: 'nothing' } : { do: 'disown', owners: lost };
  if (findings.some(({ state }) => state === 'waiting') && dependents.length > 0) {
    return { do: 'delete', policy: 'Foreground', unblock: dependents.some((one) => one.waitsForDependents) };
  }
  const policy = finalizers.includes(orphanFinalizer)
    ? 'Orphan'
    : finalizers.includes(foregroundFinalizer)
      ? 'Foreground'
      : 'Background';
  return { do: 'delete', policy, unblock: false };
}
