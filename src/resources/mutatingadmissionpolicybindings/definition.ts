import {
  type MutatingAdmissionPolicyBinding,
  MutatingAdmissionPolicyBindings,
} from '../../api/kinds/mutating-admission-policy.js';
import { nameRules } from '../../api/names.js';
import { defineResource, type ResourceDefinition } from '../../registry/resource-definition.js';
import { field } from '../../schema/builder.js';
import { objectMembers } from '../../schema/meta.js';
import { bindingColumns } from '../admissionpolicies/columns.js';
import { withBindingDefaults } from '../admissionpolicies/defaults.js';
import { mutatingOperations } from '../admissionpolicies/operations.js';
import { bindingViolations } from '../admissionpolicies/rules.js';
import { bindingMembers } from '../admissionpolicies/schema.js';
import { hasNewSpec } from '../new-spec.js';
import { struct } from '../webhookconfigurations/schema.js';
import { reservedNameWarnings } from '../webhookconfigurations/validate.js';

const schema = struct(
  'MutatingAdmissionPolicyBinding',
  {
    ...objectMembers,
    spec: field(
      2,
      struct('MutatingAdmissionPolicyBindingSpec', bindingMembers, {
        description: 'Policy that a binding puts into effect, its parameters and its scope.',
      }),
      { description: 'Policy that the binding puts into effect, its parameters and its scope.' },
    ),
  },
  { description: 'Puts a MutatingAdmissionPolicy into effect, with its parameters.' },
);

export const mutatingAdmissionPolicyBindings: ResourceDefinition<MutatingAdmissionPolicyBinding> =
  defineResource<MutatingAdmissionPolicyBinding>({
    ...MutatingAdmissionPolicyBindings,
    origin: 'built-in',
    anyFinalizer: true,
    schema,
    updateRules: ['metadata', 'contents'],
    nameRule: nameRules.dnsSubdomain,
    newGeneration: hasNewSpec,
    columns: bindingColumns,
    defaults: withBindingDefaults,
    validate: ({ spec = {} }) => bindingViolations(spec, { operations: mutatingOperations }),
    warnings: reservedNameWarnings,
  });
