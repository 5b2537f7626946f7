import { defaultDomains } from '../domains.js';
import type { LabelSelectorSpec } from '../label-selectors.js';
import { type ApiObject, resourceType } from '../object.js';

/** Permissions in one namespace. */
export interface Role extends ApiObject {
  readonly rules?: readonly PolicyRule[] | null;
}

/** Permissions in all namespaces, or in the namespace of a RoleBinding that refers to them. */
export interface ClusterRole extends ApiObject {
  readonly rules?: readonly PolicyRule[] | null;
  /** Selects the ClusterRoles whose rules a controller copies into this one. */
  readonly aggregationRule?: AggregationRule;
}

/** Selects the ClusterRoles that are aggregated: those matched by any of the selectors. */
export interface AggregationRule {
  readonly clusterRoleSelectors?: readonly LabelSelectorSpec[];
}

/** Allows every combination of its members, either on resources or on non-resource paths. */
export interface PolicyRule {
  readonly verbs?: readonly string[] | null;
  readonly apiGroups?: readonly string[];
  /** The resources: `plural`, `plural/subresource`, `*`, or `*` + `/subresource`. */
  readonly resources?: readonly string[];
  /** The names of the resources; empty for all. */
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
