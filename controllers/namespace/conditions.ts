import { setCondition } from '../../src/api/conditions.js';
import type { NamespaceCondition } from '../../src/api/kinds/namespace.js';

/** The result of one attempt to delete the contents of a namespace. */
export interface DeletionProgress {
  /** The error of discovery, complete or for some groups. */
  readonly discoveryFailure: string | undefined;
  readonly deletionFailures: readonly string[];
  readonly remaining: readonly { readonly plural: string; readonly group: string; readonly count: number }[];
  /** The number of remaining objects with each finalizer. */
  readonly finalizers: ReadonlyMap<string, number>;
}

/** Whether nothing is left, and nothing failed. */
export const isEmpty = ({ discoveryFailure, deletionFailures, remaining }: DeletionProgress): boolean =>
  discoveryFailure === undefined && deletionFailures.length === 0 && remaining.length === 0;

type Finding = Pick<NamespaceCondition, 'reason' | 'message'>;

interface Rule {
  readonly type: string;
  readonly fine: Finding;
  /** Returns the problem; undefined if there is none. */
  failing(emptying: DeletionProgress): Finding | undefined;
}

const rules: readonly Rule[] = [
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    fine: { reason: 'ResourcesDiscovered', message: 'All resources successfully discovered' },
    failing: ({ discoveryFailure: message }) =>
      message === undefined ? undefined : { reason: 'DiscoveryFailed', message },
  },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    fine: { reason: 'ParsedGroupVersions', message: 'All legacy kube types successfully parsed' },
    failing: () => undefined,
  },
  {
    type: 'NamespaceDeletionContentFailure',
    fine: {
      reason: 'ContentDeleted',
      message: 'All content successfully deleted, may be waiting on finalization',
    },
    failing: ({ deletionFailures }) =>
      deletionFailures.length === 0
        ? undefined
        : {
            reason: 'ContentDeletionFailed',
            message: `Failed to delete all resource types, ${deletionFailures.length} remaining: ${[...deletionFailures].sort().join(', ')}`,
          },
  },
  {
    type: 'NamespaceContentRemaining',
    fine: { reason: 'ContentRemoved', message: 'All content successfully removed' },
    failing: ({ remaining }) =>
      remaining.length === 0
        ? undefined
        : {
            reason: 'SomeResourcesRemain',
            message: `Some resources are remaining: ${joinSorted(
              remaining.map(({ plural, group, count }) => `${plural}.${group} has ${count} resource instances`),
            )}`,
          },
  },
  {
    type: 'NamespaceFinalizersRemaining',
    fine: { reason: 'ContentHasNoFinalizers', message: 'All content-preserving finalizers finished' },
    failing: ({ finalizers }) =>
      finalizers.size === 0
        ? undefined
        : {
            reason: 'SomeFinalizersRemain',
            message: `Some content in the namespace has finalizers remaining: ${joinSorted(
              [...finalizers].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`),
            )}`,
          },
  },
];

const joinSorted = (texts: readonly string[]): string => [...texts].sort().join(', ');

/** Returns the five conditions of a namespace that is being emptied; the same list if nothing changed. */
export const deletionConditions = (
  previous: readonly NamespaceCondition[] | undefined,
  emptying: DeletionProgress,
  now: string,
): readonly NamespaceCondition[] =>
  rules.reduce<readonly NamespaceCondition[]>((conditions, { type, fine, failing }) => {
    const problem = failing(emptying);
    return setCondition<NamespaceCondition>(
      conditions,
      { type, status: problem === undefined ? 'False' : 'True', ...(problem ?? fine) },
      now,
    );
  }, previous ?? []);
