import { type ClusterRoleBinding, ClusterRoleBindings } from '../../api/kinds/role-binding.js';
import { nameRules } from '../../api/names.js';
import { defineResource, type ResourceDefinition } from '../../registry/resource-definition.js';
import { field, structsOf } from '../../schema/builder.js';
import { objectMembers } from '../../schema/meta.js';
import {
  bindingColumns,
  roleRef,
  subjects,
  validateBinding,
  validateBindingChange,
  withGroups,
} from '../rolebindings/binding.js';

const struct = structsOf('io.k8s.api.rbac.v1');

const clusterRoleBindingSchema = struct(
  'ClusterRoleBinding',
  {
    ...objectMembers,
    subjects: field(2, subjects, { description: 'Users, groups and service accounts that the role is granted to.' }),
    roleRef: field(3, roleRef, { description: 'ClusterRole that is granted. Cannot be changed.' }),
  },
  {
    required: ['roleRef'],
    description: 'Grants a ClusterRole in all namespaces and for cluster-scoped resources.',
  },
);

/** Returns the definition of ClusterRoleBinding. `group` is the API group in which roles are served. */
export const clusterRoleBindingDefinition = (group: string): ResourceDefinition<ClusterRoleBinding> =>
  defineResource<ClusterRoleBinding>({
    ...ClusterRoleBindings,
    origin: 'built-in',
    schema: clusterRoleBindingSchema,
    nameRule: nameRules.pathSegment,
    createOnUpdate: true,
    updateRules: ['metadata', 'contents', 'metadata change', 'change'],
    unconditionalUpdate: true,
    columns: bindingColumns({
      noun: 'clusterRoleBinding',
      roleDescription:
        'RoleRef can only reference a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error.',
    }),
    defaults: (binding) => withGroups(binding, group),
    validate: (next) => validateBinding(next, { namespaced: false, roles: ['ClusterRole'], group }),
    validateChange: validateBindingChange,
  });
