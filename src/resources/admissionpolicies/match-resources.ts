import type { MatchResources, NamedRuleWithOperations } from '../../api/kinds/admission-policy.js';
import { validateLabelSelector } from '../../api/label-selectors.js';
import { pathSegment } from '../../api/names.js';
import type { Steps } from '../../api/steps.js';
import {
  child,
  duplicate,
  eachInvalid,
  index,
  notSupportedWord,
  ofEach,
  type Violation,
} from '../../api/violations.js';
import { validateWebhookRule } from '../webhookconfigurations/rules.js';

/** What is wrong with a description of requests, its defaults filled in. */
export function* matchViolations(
  { matchPolicy = '', namespaceSelector, objectSelector, resourceRules, excludeResourceRules }: MatchResources,
  path: string,
): Steps<readonly Violation[]> {
  const at = (member: string): string => child(path, member);
  const policies = ['Equivalent', 'Exact'];
  return [
    ...(policies.includes(matchPolicy) ? [] : [notSupportedWord(at('matchPolicy'), matchPolicy, policies)]),
    ...(yield* validateLabelSelector(namespaceSelector, at('namespaceSelector'))),
    ...(yield* validateLabelSelector(objectSelector, at('objectSelector'))),
    ...ofEach(resourceRules ?? [], (rule, i) => ruleViolations(rule, index(at('resourceRules'), i))),
    ...ofEach(excludeResourceRules ?? [], (rule, i) => ruleViolations(rule, index(at('excludeResourceRules'), i))),
  ];
}

function ruleViolations(rule: NamedRuleWithOperations, path: string): readonly Violation[] {
  const seen = new Set<string>();
  return [
    ...ofEach(rule.resourceNames ?? [], (name, i) => {
      const at = index(child(path, 'resourceNames'), i);
      const repeated = seen.has(name);
      seen.add(name);
      return [...eachInvalid(at, name, pathSegment(name)), ...(repeated ? [duplicate(at, name)] : [])];
    }),
    ...validateWebhookRule(rule, path),
  ];
}
