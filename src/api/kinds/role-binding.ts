import { type ApiObject, resourceType } from '../object.js';
import { rbacGroup } from './role.js';

/** Grants a Role or ClusterRole within one namespace. */
export interface RoleBinding extends ApiObject {
  /** Users, groups and service accounts that the role is granted to. */
  readonly subjects?: readonly Subject[];
  /** Role or ClusterRole that is granted. Cannot be changed. */
  readonly roleRef: RoleRef;
}

/** Grants a ClusterRole in all namespaces and for cluster-scoped resources. */
export interface ClusterRoleBinding extends ApiObject {
  /** Users, groups and service accounts that the role is granted to. */
  readonly subjects?: readonly Subject[];
  /** ClusterRole that is granted. Cannot be changed. */
  readonly roleRef: RoleRef;
}

/** User, group or service account that a role is granted to. */
export interface Subject {
  /** Kind of the subject: `User`, `Group` or `ServiceAccount`. */
  readonly kind: 'User' | 'Group' | 'ServiceAccount' | (string & {});
  /** API group of the subject's kind; empty for `ServiceAccount`. */
  readonly apiGroup?: string;
  readonly name: string;
  /** Namespace of the subject; only for `ServiceAccount`. */
  readonly namespace?: string | undefined;
}

/** Reference to the role that is granted. */
export interface RoleRef {
  readonly apiGroup: string;
  /** Kind of the role: `Role` or `ClusterRole`. */
  readonly kind: 'Role' | 'ClusterRole' | (string & {});
  readonly name: string;
}

/** The resource `rolebindings` of `rbac.authorization.k8s.io/v1`, namespaced. */
export const RoleBindings = resourceType<RoleBinding>({
  group: rbacGroup,
  version: 'v1',
  plural: 'rolebindings',
  kind: 'RoleBinding',
  namespaced: true,
});

/** The resource `clusterrolebindings` of `rbac.authorization.k8s.io/v1`, cluster-scoped. */
export const ClusterRoleBindings = resourceType<ClusterRoleBinding>({
  group: rbacGroup,
  version: 'v1',
  plural: 'clusterrolebindings',
  kind: 'ClusterRoleBinding',
  namespaced: false,
});
