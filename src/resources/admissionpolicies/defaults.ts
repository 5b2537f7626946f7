import type { AdmissionPolicy, AdmissionPolicyBinding, MatchResources } from '../../api/kinds/admission-policy.js';

/** Returns the policy with its defaults set. */
export const withPolicyDefaults = <T extends AdmissionPolicy>({ spec, ...rest }: T) => ({
  ...rest,
  spec: {
    ...spec,
    ...(spec?.matchConstraints ? { matchConstraints: withMatchDefaults(spec.matchConstraints) } : {}),
    failurePolicy: spec?.failurePolicy ?? 'Fail',
  },
});

/** Returns the binding with its defaults set. */
export function withBindingDefaults<T extends AdmissionPolicyBinding>(binding: T): T {
  const { spec } = binding;
  if (!spec?.matchResources) return binding;
  return { ...binding, spec: { ...spec, matchResources: withMatchDefaults(spec.matchResources) } };
}

const everything = {};

/** Returns the match resources with their defaults set. */
const withMatchDefaults = (resources: MatchResources): MatchResources => ({
  ...resources,
  namespaceSelector: resources.namespaceSelector ?? everything,
  objectSelector: resources.objectSelector ?? everything,
  ...withScopes('resourceRules', resources),
  ...withScopes('excludeResourceRules', resources),
  matchPolicy: resources.matchPolicy ?? 'Equivalent',
});

const withScopes = (
  member: 'resourceRules' | 'excludeResourceRules',
  { [member]: rules }: MatchResources,
): Pick<MatchResources, typeof member> =>
  rules ? { [member]: rules.map((rule) => Object.assign({}, rule, { scope: rule.scope ?? '*' })) } : {};
