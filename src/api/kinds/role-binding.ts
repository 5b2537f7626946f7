import { type ApiObject, resourceType } from '../object.js';
import { rbacGroup } from './role.js';

/** Grants a Role, or the rules of a ClusterRole, within one namespace. */
export interface RoleBinding extends ApiObject {
  readonly subjects?: readonly Subject[];
  readonly roleRef: RoleRef;
}

/** Grants a ClusterRole everywhere. */
export interface ClusterRoleBinding extends ApiObject {
  readonly subjects?: readonly Subject[];
  readonly roleRef: RoleRef;
}

/** A user, group or service account to which a binding grants permissions. */
export interface Subject {
  readonly kind: 'User' | 'Group' | 'ServiceAccount' | (string & {});
  readonly apiGroup?: string;
  readonly name: string;
  /** The namespace of a ServiceAccount. */
  readonly namespace?: string | undefined;
}

/** The role that is granted. Cannot be changed. */
export interface RoleRef {
  readonly apiGroup: string;
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
