import { defaultDomains } from '../domains.js';
import type { LabelSelectorSpec } from '../label-selectors.js';
import { type ApiObject, resourceType } from '../object.js';

/** Set of permissions within one namespace. */
export interface Role extends ApiObject {
  /** Rules for what the role permits. */
  readonly rules?: readonly PolicyRule[] | null;
}

/** Set of permissions that can be granted cluster-wide, or in single namespaces. */
export interface ClusterRole extends ApiObject {
  /** Rules for what the role permits. */
  readonly rules?: readonly PolicyRule[] | null;
  /** Selects the ClusterRoles whose rules are combined; a controller then overwrites the rules of this role. */
  readonly aggregationRule?: AggregationRule;
}

/** How a ClusterRole is aggregated from the rules of others. */
export interface AggregationRule {
  /** Selectors of ClusterRoles; the rules of every role that matches any of them are included. */
  readonly clusterRoleSelectors?: readonly LabelSelectorSpec[];
}

/** Permits every combination of the verbs with the resources or paths listed; one rule cannot list both. */
export interface PolicyRule {
  /** Verbs that are permitted; `*` for all. */
  readonly verbs?: readonly string[] | null;
  /** API groups of the resources; the empty string is the core group, `*` all groups. */
  readonly apiGroups?: readonly string[];
  /**
   * Resources, with subresources after a slash; `*` for all, and `*` + `/subresource` for one subresource of all
   * resources.
   */
  readonly resources?: readonly string[];
  /** Names of the objects that are permitted; empty for all. */
  readonly resourceNames?: readonly string[];
  /** URL paths that are not resources; a trailing `*` matches any suffix. Only for ClusterRoles. */
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
