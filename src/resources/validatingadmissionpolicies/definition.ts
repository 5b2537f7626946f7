import {
  ValidatingAdmissionPolicies,
  type ValidatingAdmissionPolicy,
} from '../../api/kinds/validating-admission-policy.js';
import { nameRules } from '../../api/names.js';
import { resetForStatus } from '../../registry/metadata-rules.js';
import { defineResource, type ResourceDefinition } from '../../registry/resource-definition.js';
import { policyColumns } from '../admissionpolicies/columns.js';
import { withPolicyDefaults } from '../admissionpolicies/defaults.js';
import { hasNewSpec } from '../new-spec.js';
import { reservedNameWarnings } from '../webhookconfigurations/validate.js';
import { validatingAdmissionPolicySchema } from './schema.js';
import { statusViolations } from './status.js';
import { policyViolations } from './validate.js';

export const validatingAdmissionPolicies: ResourceDefinition<ValidatingAdmissionPolicy> =
  defineResource<ValidatingAdmissionPolicy>({
    ...ValidatingAdmissionPolicies,
    origin: 'built-in',
    anyFinalizer: true,
    schema: validatingAdmissionPolicySchema,
    updateRules: ['metadata', 'contents'],
    nameRule: nameRules.dnsSubdomain,
    resetFields: [['status']],
    newGeneration: hasNewSpec,
    columns: policyColumns(
      'Validations',
      'Validations indicates the number of validation rules defined in this configuration',
      ({ spec }: ValidatingAdmissionPolicy) => spec?.validations?.length ?? 0,
    ),
    defaults: withPolicyDefaults,
    prepare: ({ status: _, ...next }, previous) =>
      previous?.status === undefined ? next : { ...next, status: previous.status },
    validate: policyViolations,
    warnings: reservedNameWarnings,
    subresources: {
      status: {
        type: 'view',
        updateRules: ['contents'],
        resetFields: [['spec'], ['metadata']],
        prepare: ({ metadata, status = {} }, previous) => ({
          ...previous,
          metadata: resetForStatus(metadata, previous.metadata),
          status,
        }),
        validate: statusViolations,
      },
    },
  });
