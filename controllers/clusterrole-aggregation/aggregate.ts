import type { ClusterRole, PolicyRule } from '../../src/api/kinds/role.js';
import { labelSelectorInSteps } from '../../src/api/label-selectors.js';
import type { Steps } from '../../src/api/steps.js';

const members = ['verbs', 'apiGroups', 'resources', 'resourceNames', 'nonResourceURLs'] as const;

/** Returns a text that is the same for equal rules. */
const ruleText = (rule: PolicyRule): string => JSON.stringify(members.map((member) => rule[member] ?? []));

const byName = (a: ClusterRole, b: ClusterRole): number => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);

/**
 * Returns the rules of an aggregated role: those of every role that its selectors select, by selector and then by name,
 * without the role itself and without repetitions. Takes a step for each selector. Throws BadRequest for an invalid
 * selector.
 */
export function* aggregatedRules(role: ClusterRole, all: readonly ClusterRole[]): Steps<readonly PolicyRule[]> {
  // A role that one selector has selected adds nothing when another one selects it.
  let others = all.filter(({ metadata }) => metadata.name !== role.metadata.name).sort(byName);
  const rules = new Map<string, PolicyRule>();
  for (const spec of role.aggregationRule?.clusterRoleSelectors ?? []) {
    const selector = yield* labelSelectorInSteps(spec);
    const unmatched: ClusterRole[] = [];
    for (const other of others) {
      if (!selector.matches(other.metadata.labels)) unmatched.push(other);
      else {
        for (const rule of other.rules ?? []) if (!rules.has(ruleText(rule))) rules.set(ruleText(rule), rule);
      }
    }
    others = unmatched;
    yield;
  }
  return [...rules.values()];
}

/** Whether the rules are the same, in the same order. */
export const sameRules = (a: readonly PolicyRule[], b: readonly PolicyRule[]): boolean =>
  a.length === b.length && a.every((rule, at) => ruleText(rule) === ruleText(b[at] ?? {}));
