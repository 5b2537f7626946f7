import type { PolicyRule } from '../../api/kinds/role.js';
import { child, index, invalid, required, type Violation, validateEach } from '../../api/violations.js';
import { field, list, string, structsOf } from '../../schema/builder.js';

const struct = structsOf('io.k8s.api.rbac.v1');

/** Schema and validation of the rules of Roles and ClusterRoles. */

const names = list(string(), { listType: 'atomic' });

export const policyRules = list(
  struct(
    'PolicyRule',
    {
      verbs: field(1, names, { presence: 'always', description: 'Verbs that are permitted; * for all.' }),
      apiGroups: field(2, names, {
        description: 'API groups of the resources; the empty string is the core group, * all groups.',
      }),
      resources: field(3, names, { description: 'Resources, with subresources after a slash; * for all.' }),
      resourceNames: field(4, names, { description: 'Names of the objects that are permitted; empty for all.' }),
      nonResourceURLs: field(5, names, {
        description: 'URL paths that are not resources; a trailing * matches any suffix. Only for ClusterRoles.',
      }),
    },
    {
      required: ['verbs'],
      description: 'Permits every combination of the verbs with the resources or paths listed.',
    },
  ),
  { listType: 'atomic' },
);

const isEmpty = (items: readonly string[] | null | undefined): boolean => (items ?? []).length === 0;

/** Validates the policy rules at `rules`. */
export const validatePolicyRules = (
  rules: readonly PolicyRule[] | null | undefined,
  scope: { readonly namespaced: boolean },
): readonly Violation[] => validateEach(rules ?? [], (rule, at) => validateRule(rule, scope, index('rules', at)));

function validateRule(
  rule: PolicyRule,
  { namespaced }: { readonly namespaced: boolean },
  path: string,
): readonly Violation[] {
  const verbs = isEmpty(rule.verbs) ? [required(child(path, 'verbs'), 'verbs must contain at least one value')] : [];
  if (!isEmpty(rule.nonResourceURLs)) {
    const refused = (message: string): Violation =>
      invalid(child(path, 'nonResourceURLs'), rule.nonResourceURLs, message);
    const mixed = !isEmpty(rule.apiGroups) || !isEmpty(rule.resources) || !isEmpty(rule.resourceNames);
    return [
      ...verbs,
      ...(namespaced ? [refused('namespaced rules cannot apply to non-resource URLs')] : []),
      ...(mixed ? [refused('rules cannot apply to both regular resources and non-resource URLs')] : []),
    ];
  }
  return [
    ...verbs,
    ...(isEmpty(rule.apiGroups)
      ? [required(child(path, 'apiGroups'), 'resource rules must supply at least one api group')]
      : []),
    ...(isEmpty(rule.resources)
      ? [required(child(path, 'resources'), 'resource rules must supply at least one resource')]
      : []),
  ];
}
