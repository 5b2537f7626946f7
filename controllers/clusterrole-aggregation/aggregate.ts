import type { ClusterRole, PolicyRule } from '../../src/api/kinds/role.js';
import { labelSelectorInSteps } from '../../src/api/label-selectors.js';
import type { Steps } from '../../src/api/steps.js';

const members = ['verbs', 'apiGroups', 'resources', 'resourceNames', 'nonResourceURLs'] as const;

/** A text that is the same for rules that are the same. */
const ruleText = (rule: PolicyRule): string => JSON.stringify(members.map((member) => rule[member] ?? []));

const byName = (a: ClusterRole, b: ClusterRole): number => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);

/**
 * The rules of an aggregated role: those of every role that its selectors choose, selector by selector, by name within
 * each; itself left out, repeats dropped. A step for each selector. Throws BadRequest for one that cannot be read.
 */
export function* aggregatedRules(role: ClusterRole, all: readonly ClusterRole[]): Steps<readonly PolicyRule[]> {
  // What one selector has chosen, another has nothing to add of.
  let others = all.filter(({ metadata }) => metadata.name !== role.metadata.name).sort(byName);
  const rules = new Map<string, PolicyRule>();
  for (const spec of role.aggregationRule?.clusterRoleSelectors ?? []) {
    const selector = yield* labelSelectorInSteps(spec);
    const left: ClusterRole[] = [];
    for (const other of others) {
      if (!selector.matches(other.metadata.labels)) left.push(other);
      else {
        for (const rule of other.rules ?? []) if (!rules.has(ruleText(rule))) rules.set(ruleText(rule), rule);
      }
    }
    others = left;
    yield;
  }
  return [...rules.values()];
}

/** Whether the rules are the same, in the same order. */
export const sameRules = (a: readonly PolicyRule[], b: readonly PolicyRule[]): boolean =>
  a.length === b.length && a.every((rule, at) => ruleText(rule) === ruleText(b[at] ?? {}));
