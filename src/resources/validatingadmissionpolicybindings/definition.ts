import {
  type ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicyBindings,
} from '../../api/kinds/validating-admission-policy.js';
import { nameRules } from '../../api/names.js';
import {
  child,
  duplicate,
  index,
  invalid,
  notSupportedTypedString,
  required,
  type Violation,
  validateEach,
} from '../../api/violations.js';
import { defineResource, type ResourceDefinition } from '../../registry/resource-definition.js';
import { field, list, string } from '../../schema/builder.js';
import { objectMembers } from '../../schema/meta.js';
import { bindingColumns } from '../admissionpolicies/columns.js';
import { withBindingDefaults } from '../admissionpolicies/defaults.js';
import { bindingViolations } from '../admissionpolicies/rules.js';
import { bindingMembers } from '../admissionpolicies/schema.js';
import { hasNewSpec } from '../new-spec.js';
import { struct } from '../webhookconfigurations/schema.js';
import { reservedNameWarnings } from '../webhookconfigurations/validate.js';

const actions = ['Audit', 'Deny', 'Warn'];

const schema = struct(
  'ValidatingAdmissionPolicyBinding',
  {
    ...objectMembers,
    spec: field(
      2,
      struct(
        'ValidatingAdmissionPolicyBindingSpec',
        {
          ...bindingMembers,
          validationActions: field(4, list(string({ go: 'v1.ValidationAction', enum: actions }), { listType: 'set' }), {
            description: 'Actions if a validation fails: Deny, Warn and Audit; Deny and Warn cannot be combined.',
          }),
        },
        {
          required: ['policyName', 'validationActions'],
          description: 'Policy that a binding puts into effect, its parameters, scope and actions.',
        },
      ),
      { description: 'Policy that the binding puts into effect, its parameters, scope and actions.' },
    ),
  },
  { required: ['spec'], description: 'Puts a ValidatingAdmissionPolicy into effect, with its parameters.' },
);

function actionViolations(values: readonly string[], path: string): readonly Violation[] {
  const seen = new Set<string>();
  return [
    ...validateEach(values, (action, i) => {
      const repeated = seen.has(action);
      seen.add(action);
      return [
        ...(actions.includes(action) ? [] : [notSupportedTypedString(index(path, i), action, actions)]),
        ...(repeated ? [duplicate(index(path, i), action)] : []),
      ];
    }),
    ...(seen.has('Deny') && seen.has('Warn')
      ? [
          invalid(
            path,
            values,
            'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
          ),
        ]
      : []),
    ...(seen.size === 0 ? [required(path, 'at least one validation action is required')] : []),
  ];
}

export const validatingAdmissionPolicyBindings: ResourceDefinition<ValidatingAdmissionPolicyBinding> =
  defineResource<ValidatingAdmissionPolicyBinding>({
    ...ValidatingAdmissionPolicyBindings,
    origin: 'built-in',
    anyFinalizer: true,
    schema,
    updateRules: ['metadata', 'contents'],
    nameRule: nameRules.dnsSubdomain,
    newGeneration: hasNewSpec,
    columns: bindingColumns,
    defaults: withBindingDefaults,
    *validate({ spec = {} }) {
      return [
        ...(yield* bindingViolations(spec)),
        ...actionViolations(spec.validationActions ?? [], child('spec', 'validationActions')),
      ];
    },
    warnings: reservedNameWarnings,
  });
