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
      description: 'Which of the others there is: ApplyConfiguration or JSONPatch.',
    }),
    applyConfiguration: optional(
      3,
      struct(
        'ApplyConfiguration',
        { expression: field(1, string(), { description: 'CEL expression for an Object{...}.' }) },
        { description: 'What is merged into what is written, as by server-side apply.' },
      ),
      { description: 'What is merged into what is written, as by server-side apply.' },
    ),
    jsonPatch: optional(
      4,
      struct(
        'JSONPatch',
        { expression: field(1, string(), { description: 'CEL expression for a list of JSONPatch{...}.' }) },
        { description: 'Operations of a JSON Patch (RFC 6902).' },
      ),
      { description: 'Operations of a JSON Patch (RFC 6902).' },
    ),
  },
  { required: ['patchType'], description: 'One change of what is written.' },
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
          paramKind: optional(1, paramKind, { description: 'What kind of objects bindings give as parameters.' }),
          matchConstraints: optional(2, matchResources, { description: 'Which requests the policy changes.' }),
          variables: field(3, list(variable, { listType: 'atomic' }), {
            description: 'Values that expressions share.',
          }),
          mutations: field(4, list(mutation, { listType: 'atomic' }), {
            description: 'What is changed, each seeing what the ones before made of the object.',
          }),
          failurePolicy: optional(5, string({ go: 'v1.FailurePolicyType' }), {
            enum: ['Fail', 'Ignore'],
            description: 'What an expression that cannot be evaluated means: Fail (the default) or Ignore.',
          }),
          matchConditions: field(6, listMap(matchCondition, ['name']), {
            description: 'Conditions that must all hold, or nothing is changed.',
          }),
          reinvocationPolicy: field(7, string({ go: 'v1.ReinvocationPolicyType' }), {
            enum: ['IfNeeded', 'Never'],
            description: 'Change again if others changed the object since? Never or IfNeeded.',
          }),
        },
        { description: 'What is changed, and how.' },
      ),
      { description: 'What is changed, and how.' },
    ),
  },
  { description: 'Changes in CEL of what is written; nothing is changed by them until a binding says so.' },
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
