import type { ClusterRole, PolicyRule } from '../../src/api/kinds/role.js';
import { labelSelectorFrom } from '../../src/api/selectors.js';

const members = ['verbs', 'apiGroups', 'resources', 'resourceNames', 'nonResourceURLs'] as const;

/** A text that is the same for rules that are the same. */
const ruleText = (rule: PolicyRule): string => JSON.stringify(members.map((member) => rule[member] ?? []));

const byName = (a: ClusterRole, b: ClusterRole): number => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);

/**
 * The rules of an aggregated role: those of every role that its selectors choose, selector by selector, by name within
 * each; itself left out, repeats dropped. Throws BadRequest for a selector that cannot be read.
 */
export function aggregatedRules(role: ClusterRole, all: readonly ClusterRole[]): readonly PolicyRule[] {
  const others = all.filter(({ metadata }) => metadata.name !== role.metadata.name).sort(byName);
  const rules = new Map<string, PolicyRule>();
  for (const spec of role.aggregationRule?.clusterRoleSelectors ?? []) {
    const selector = labelSelectorFrom(spec);
    for (const other of others) {
      if (!selector.matches(other.metadata.labels)) continue;
      for (const rule of other.rules ?? []) if (!rules.has(ruleText(rule))) rules.set(ruleText(rule), rule);
    }
  }
  return [...rules.values()];
}

/** The same rules in the same order? */
export const sameRules = (a: readonly PolicyRule[], b: readonly PolicyRule[]): boolean =>
  a.length === b.length && a.every((rule, at) => ruleText(rule) === ruleText(b[at] ?? {}));
