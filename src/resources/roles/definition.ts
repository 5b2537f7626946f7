import { type Role, Roles } from '../../api/kinds/role.js';
import { nameRules } from '../../api/names.js';
import { defineResource } from '../../registry/resource-definition.js';
import { field, structsOf } from '../../schema/builder.js';
import { objectMembers } from '../../schema/meta.js';
import { createdAt } from '../columns.js';
import { policyRules, validatePolicyRules } from './rules.js';

const struct = structsOf('io.k8s.api.rbac.v1');

const roleSchema = struct(
  'Role',
  {
    ...objectMembers,
    rules: field(2, policyRules, { presence: 'always', description: 'Rules for what the role permits.' }),
  },
  { description: 'Set of permissions within one namespace.' },
);

export const roles = defineResource<Role>({
  ...Roles,
  origin: 'built-in',
  schema: roleSchema,
  nameRule: nameRules.pathSegment,
  createOnUpdate: true,
  updateRules: ['metadata', 'contents', 'metadata change'],
  unconditionalUpdate: true,
  columns: [createdAt],
  validate: ({ rules }) => validatePolicyRules(rules, { namespaced: true }),
});
