import type {
  AdmissionPolicy,
  AdmissionPolicyBinding,
  MatchResources,
  NamedRuleWithOperations,
} from '../../api/kinds/admission-policy.js';
import { labelSelectorFrom } from '../../api/label-selectors.js';
import type { Selectors } from '../webhooks/matching.js';

/** Match constraints, with compiled selectors. */
export interface Constraints extends Selectors {
  readonly rules: readonly NamedRuleWithOperations[];
  readonly excluded: readonly NamedRuleWithOperations[];
  readonly matchPolicy: string | undefined;
}

/** A policy with its bindings. */
export interface PolicyHook<P extends AdmissionPolicy, B extends AdmissionPolicyBinding> {
  readonly policy: P;
  readonly name: string;
  readonly constraints: Constraints;
  /** The bindings, in the order of their names; at least one. */
  readonly bindings: readonly BindingHook<B>[];
}

export interface BindingHook<B extends AdmissionPolicyBinding> {
  readonly binding: B;
  readonly name: string;
  /** The constraints of the binding; if absent, the binding applies to all requests that the policy matches. */
  readonly constraints: Constraints | undefined;
}

const constraintsOf = (resources: MatchResources): Constraints => ({
  namespaceSelector: labelSelectorFrom(resources.namespaceSelector ?? undefined),
  objectSelector: labelSelectorFrom(resources.objectSelector ?? undefined),
  rules: resources.resourceRules ?? [],
  excluded: resources.excludeResourceRules ?? [],
  matchPolicy: resources.matchPolicy,
});

/** Returns the policies that have bindings, sorted by name. Both lists must be sorted by name. */
export function policyHooks<P extends AdmissionPolicy, B extends AdmissionPolicyBinding>(
  policies: readonly P[],
  bindings: readonly B[],
): readonly PolicyHook<P, B>[] {
  const byPolicy = new Map<string, B[]>();
  for (const binding of bindings) {
    const name = binding.spec?.policyName ?? '';
    const others = byPolicy.get(name);
    if (others === undefined) byPolicy.set(name, [binding]);
    else others.push(binding);
  }
  return policies.flatMap((policy): readonly PolicyHook<P, B>[] => {
    const name = policy.metadata.name ?? '';
    const ownBindings = byPolicy.get(name) ?? [];
    if (ownBindings.length === 0) return [];
    return [
      {
        policy,
        name,
        constraints: constraintsOf(policy.spec?.matchConstraints ?? {}),
        bindings: ownBindings.map((binding) => ({
          binding,
          name: binding.metadata.name ?? '',
          constraints: binding.spec?.matchResources ? constraintsOf(binding.spec.matchResources) : undefined,
        })),
      },
    ];
  });
}

/** Whether failures of the policy are ignored (`failurePolicy: Ignore`). */
export const failsOpen = ({ policy }: { readonly policy: AdmissionPolicy }): boolean =>
  policy.spec?.failurePolicy === 'Ignore';
