import type {
  MatchResources,
  NamedRuleWithOperations,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../api/kinds/validating-admission-policy.js';
import { labelSelectorFrom } from '../../api/label-selectors.js';
import type { Selectors } from '../webhooks/matching.js';

/** Which requests are meant, ready to be asked. */
export interface Constraints extends Selectors {
  readonly rules: readonly NamedRuleWithOperations[];
  readonly excluded: readonly NamedRuleWithOperations[];
  readonly matchPolicy: string | undefined;
}

/** A policy that is in force. */
export interface PolicyHook {
  readonly policy: ValidatingAdmissionPolicy;
  readonly name: string;
  readonly constraints: Constraints;
  /** In the order of their names; at least one. */
  readonly bindings: readonly BindingHook[];
}

export interface BindingHook {
  readonly binding: ValidatingAdmissionPolicyBinding;
  readonly name: string;
  /** Absent: whatever the policy matches. */
  readonly constraints: Constraints | undefined;
}

const constraintsOf = (given: MatchResources): Constraints => ({
  namespaceSelector: labelSelectorFrom(given.namespaceSelector ?? undefined),
  objectSelector: labelSelectorFrom(given.objectSelector ?? undefined),
  rules: given.resourceRules ?? [],
  excluded: given.excludeResourceRules ?? [],
  matchPolicy: given.matchPolicy,
});

/** The policies that are bound, in the order of their names. Both lists are in the order of names. */
export function policyHooks(
  policies: readonly ValidatingAdmissionPolicy[],
  bindings: readonly ValidatingAdmissionPolicyBinding[],
): readonly PolicyHook[] {
  const byPolicy = new Map<string, ValidatingAdmissionPolicyBinding[]>();
  for (const binding of bindings) {
    const name = binding.spec?.policyName ?? '';
    const others = byPolicy.get(name);
    if (others === undefined) byPolicy.set(name, [binding]);
    else others.push(binding);
  }
  return policies.flatMap((policy): readonly PolicyHook[] => {
    const name = policy.metadata.name ?? '';
    const mine = byPolicy.get(name) ?? [];
    if (mine.length === 0) return [];
    return [
      {
        policy,
        name,
        constraints: constraintsOf(policy.spec?.matchConstraints ?? {}),
        bindings: mine.map((binding) => ({
          binding,
          name: binding.metadata.name ?? '',
          constraints: binding.spec?.matchResources ? constraintsOf(binding.spec.matchResources) : undefined,
        })),
      },
    ];
  });
}
