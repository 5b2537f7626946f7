import { MutatingAdmissionPolicies, type MutatingAdmissionPolicy } from '../../api/kinds/mutating-admission-policy.js';
import { nameRules } from '../../api/names.js';
import { defineResource, type ResourceDefinition } from '../../registry/resource-definition.js';
import { field, list, listMap, optional, string } from '../../schema/builder.js';
import { objectMembers } from '../../schema/meta.js';
import { policyColumns } from '../admissionpolicies/columns.js';
import { withPolicyDefaults } from '../admissionpolicies/defaults.js';
import { matchResources, paramKind, variable } from '../admissionpolicies/schema.js';
import { hasNewSpec } from '../new-spec.js';
import { matchCondition, struct } from '../webhookconfigurations/schema.js';
import { reservedNameWarnings } from '../webhookconfigurations/validate.js';
import { policyViolations } from './validate.js';

const mutation = struct(
  'Mutation',
  {
    patchType: field(2, string({ go: 'v1.PatchType' }), {
      presence: 'always',
      enum: ['ApplyConfiguration', 'JSONPatch'],
      description: 'Type of the mutation: ApplyConfiguration or JSONPatch.',
    }),
    applyConfiguration: optional(
      3,
      struct(
        'ApplyConfiguration',
        { expression: field(1, string(), { description: 'CEL expression that returns an Object{...}.' }) },
        { description: 'Configuration that is merged into the object, as in server-side apply.' },
      ),
      { description: 'Configuration that is merged into the object; required for patchType ApplyConfiguration.' },
    ),
    jsonPatch: optional(
      4,
      struct(
        'JSONPatch',
        {
          expression: field(1, string(), {
            description: 'CEL expression that returns a list of JSONPatch{...} operations.',
          }),
        },
        { description: 'JSON Patch (RFC 6902) that is applied to the object.' },
      ),
      { description: 'JSON Patch (RFC 6902) that is applied to the object; required for patchType JSONPatch.' },
    ),
  },
  { required: ['patchType'], description: 'One change of the object.' },
);

const schema = struct(
  'MutatingAdmissionPolicy',
  {
    ...objectMembers,
    spec: field(
      2,
      struct(
        'MutatingAdmissionPolicySpec',
        {
          paramKind: optional(1, paramKind, { description: 'Kind of the parameter objects that bindings refer to.' }),
          matchConstraints: optional(2, matchResources, { description: 'Requests that the policy applies to.' }),
          variables: field(3, list(variable, { listType: 'atomic' }), {
            description: 'Named values that other expressions can use.',
          }),
          mutations: field(4, list(mutation, { listType: 'atomic' }), {
            description: 'Changes of the object, in order; each sees the result of the previous ones.',
          }),
          failurePolicy: optional(5, string({ go: 'v1.FailurePolicyType' }), {
            enum: ['Fail', 'Ignore'],
            description: 'Handling of expressions that cannot be evaluated: Fail (the default) or Ignore.',
          }),
          matchConditions: field(6, listMap(matchCondition, ['name']), {
            description: 'CEL conditions that must all be true for the policy to apply.',
          }),
          reinvocationPolicy: field(7, string({ go: 'v1.ReinvocationPolicyType' }), {
            enum: ['IfNeeded', 'Never'],
            description: 'Whether to run the policy again if later plugins changed the object: Never or IfNeeded.',
          }),
        },
        { description: 'Requests that a policy applies to, and how it changes objects.' },
      ),
      { description: 'Requests that the policy applies to, and how it changes objects.' },
    ),
  },
  { description: 'Policy in CEL that changes objects on admission. It has no effect without a binding.' },
);

export const mutatingAdmissionPolicies: ResourceDefinition<MutatingAdmissionPolicy> =
  defineResource<MutatingAdmissionPolicy>({
    ...MutatingAdmissionPolicies,
    origin: 'built-in',
    anyFinalizer: true,
    schema,
    updateRules: ['metadata', 'contents'],
    nameRule: nameRules.dnsSubdomain,
    newGeneration: hasNewSpec,
    columns: policyColumns(
      'Mutations',
      'Mutation indicates the number of mutations rules defined in this configuration',
      ({ spec }: MutatingAdmissionPolicy) => spec?.mutations?.length ?? 0,
    ),
    defaults: withPolicyDefaults,
    validate: policyViolations,
    warnings: reservedNameWarnings,
  });
