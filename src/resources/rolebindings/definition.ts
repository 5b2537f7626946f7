import { type RoleBinding, RoleBindings } from '../../api/kinds/role-binding.js';
import { nameRules } from '../../api/names.js';
import { defineResource, type ResourceDefinition } from '../../registry/resource-definition.js';
import { field, structsOf } from '../../schema/builder.js';
import { objectMembers } from '../../schema/meta.js';
import { bindingColumns, roleRef, subjects, validateBinding, validateBindingChange, withGroups } from './binding.js';

const struct = structsOf('io.k8s.api.rbac.v1');

const roleBindingSchema = struct(
  'RoleBinding',
  {
    ...objectMembers,
    subjects: field(2, subjects, { description: 'Users, groups and service accounts that the role is granted to.' }),
    roleRef: field(3, roleRef, { description: 'Role or ClusterRole that is granted. Cannot be changed.' }),
  },
  {
    required: ['roleRef'],
    description: 'Grants a Role or ClusterRole within one namespace.',
  },
);

/** Returns the definition of RoleBinding. `group` is the API group in which roles are served. */
export const roleBindingDefinition = (group: string): ResourceDefinition<RoleBinding> =>
  defineResource<RoleBinding>({
    ...RoleBindings,
    origin: 'built-in',
    schema: roleBindingSchema,
    nameRule: nameRules.pathSegment,
    createOnUpdate: true,
    updateRules: ['metadata', 'contents', 'metadata change', 'change'],
    unconditionalUpdate: true,
    columns: bindingColumns({
      noun: 'roleBinding',
      roleDescription:
        'RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error.',
    }),
    defaults: (binding) => withGroups(binding, group),
    validate: (next) => validateBinding(next, { namespaced: true, roles: ['Role', 'ClusterRole'], group }),
    validateChange: validateBindingChange,
  });
