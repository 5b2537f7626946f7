import { defaultDomains } from '../domains.js';
import type { LabelSelectorSpec } from '../label-selectors.js';
import { type ApiObject, resourceType } from '../object.js';

/** What may be done in one namespace. */
export interface Role extends ApiObject {
  readonly rules?: readonly PolicyRule[] | null;
}

/** What may be done everywhere, or in the namespace of the RoleBinding that refers to it. */
export interface ClusterRole extends ApiObject {
  readonly rules?: readonly PolicyRule[] | null;
  /** Its rules are those of all ClusterRoles so selected; a controller keeps them. */
  readonly aggregationRule?: AggregationRule;
}

/** Which ClusterRoles give their rules: those that any of the selectors selects. */
export interface AggregationRule {
  readonly clusterRoleSelectors?: readonly LabelSelectorSpec[];
}

/** Allows every combination of its members. Either about resources or about paths. */
export interface PolicyRule {
  readonly verbs?: readonly string[] | null;
  readonly apiGroups?: readonly string[];
  /** `plural`, `plural/subresource`, the star forms `*` and `*` + `/subresource`. */
  readonly resources?: readonly string[];
  /** None: every name. */
  readonly resourceNames?: readonly string[];
  /** Exact paths, or a prefix ending in `*`. */
  readonly nonResourceURLs?: readonly string[];
}

/** API group of roles and bindings. */
export const rbacGroup = `rbac.authorization.${defaultDomains.api}`;

/** The resource `roles` of `rbac.authorization.k8s.io/v1`, namespaced. */
export const Roles = resourceType<Role>({
  group: rbacGroup,
  version: 'v1',
  plural: 'roles',
  kind: 'Role',
  namespaced: true,
});

/** The resource `clusterroles` of `rbac.authorization.k8s.io/v1`, cluster-scoped. */
export const ClusterRoles = resourceType<ClusterRole>({
  group: rbacGroup,
  version: 'v1',
  plural: 'clusterroles',
  kind: 'ClusterRole',
  namespaced: false,
});
