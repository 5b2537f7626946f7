import { type AggregationRule, type ClusterRole, ClusterRoles } from '../../api/kinds/role.js';
import { validateLabelSelector } from '../../api/label-selectors.js';
import { nameRules } from '../../api/names.js';
import type { Steps } from '../../api/steps.js';
import { index, invalid, required, type Violation, validateEachInSteps } from '../../api/violations.js';
import { defineResource } from '../../registry/resource-definition.js';
import { field, list, optional, structsOf } from '../../schema/builder.js';
import { labelSelector, objectMembers } from '../../schema/meta.js';
import { createdAt } from '../columns.js';
import { policyRules, validatePolicyRules } from '../roles/rules.js';

const struct = structsOf('io.k8s.api.rbac.v1');

const clusterRoleSchema = struct(
  'ClusterRole',
  {
    ...objectMembers,
    rules: field(2, policyRules, { presence: 'always', description: 'Rules for what the role permits.' }),
    aggregationRule: optional(
      3,
      struct(
        'AggregationRule',
        {
          clusterRoleSelectors: field(1, list(labelSelector, { listType: 'atomic' }), {
            description: 'Selectors of ClusterRoles; the rules of every role that matches any of them are included.',
          }),
        },
        { description: 'How a ClusterRole is aggregated from the rules of others.' },
      ),
      {
        description:
          'Selects the ClusterRoles whose rules are combined; a controller then overwrites the rules of this role.',
      },
    ),
  },
  { description: 'Set of permissions that can be granted cluster-wide, or in single namespaces.' },
);

function* validateAggregation(rule: AggregationRule | null | undefined): Steps<readonly Violation[]> {
  if (rule === undefined || rule === null) return [];
  const path = 'aggregationRule.clusterRoleSelectors';
  const selectors = rule.clusterRoleSelectors ?? [];
  if (selectors.length === 0) {
    return [required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil')];
  }
  return yield* validateEachInSteps(selectors, function* (selector, at): Steps<readonly Violation[]> {
    const wrong = yield* validateLabelSelector(selector, index(path, at));
    return wrong.length === 0 ? [] : [...wrong, invalid(index(path, at), null, 'invalid label selector.')];
  });
}

export const clusterRoles = defineResource<ClusterRole>({
  ...ClusterRoles,
  origin: 'built-in',
  schema: clusterRoleSchema,
  nameRule: nameRules.pathSegment,
  createOnUpdate: true,
  updateRules: ['metadata', 'contents', 'metadata change'],
  unconditionalUpdate: true,
  columns: [createdAt],
  *validate({ rules, aggregationRule }) {
    return [...validatePolicyRules(rules, { namespaced: false }), ...(yield* validateAggregation(aggregationRule))];
  },
});
