import type { MatchResources, NamedRuleWithOperations } from '../../api/kinds/admission-policy.js';
import { validateLabelSelector } from '../../api/label-selectors.js';
import { pathSegment } from '../../api/names.js';
import type { Steps } from '../../api/steps.js';
import {
  child,
  duplicate,
  eachInvalid,
  index,
  notSupportedTypedString,
  type Violation,
  validateEach,
} from '../../api/violations.js';
import { validateWebhookRule } from '../webhookconfigurations/rules.js';

/** Validates match resources whose defaults have been set. */
export function* matchViolations(
  { matchPolicy = '', namespaceSelector, objectSelector, resourceRules, excludeResourceRules }: MatchResources,
  path: string,
): Steps<readonly Violation[]> {
  const at = (member: string): string => child(path, member);
  const policies = ['Equivalent', 'Exact'];
  return [
    ...(policies.includes(matchPolicy) ? [] : [notSupportedTypedString(at('matchPolicy'), matchPolicy, policies)]),
    ...(yield* validateLabelSelector(namespaceSelector, at('namespaceSelector'))),
    ...(yield* validateLabelSelector(objectSelector, at('objectSelector'))),
    ...validateEach(resourceRules ?? [], (rule, i) => ruleViolations(rule, index(at('resourceRules'), i))),
    ...validateEach(excludeResourceRules ?? [], (rule, i) =>
      ruleViolations(rule, index(at('excludeResourceRules'), i)),
    ),
  ];
}

function ruleViolations(rule: NamedRuleWithOperations, path: string): readonly Violation[] {
  const seen = new Set<string>();
  return [
    ...validateEach(rule.resourceNames ?? [], (name, i) => {
      const at = index(child(path, 'resourceNames'), i);
      const repeated = seen.has(name);
      seen.add(name);
      return [...eachInvalid(at, name, pathSegment(name)), ...(repeated ? [duplicate(at, name)] : [])];
    }),
    ...validateWebhookRule(rule, path),
  ];
}
