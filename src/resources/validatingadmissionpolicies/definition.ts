import { isDeepStrictEqual } from 'node:util';
import {
  ValidatingAdmissionPolicies,
  type ValidatingAdmissionPolicy,
} from '../../api/kinds/validating-admission-policy.js';
import { nameRules } from '../../api/names.js';
import { resetForStatus } from '../../registry/metadata-rules.js';
import { defineResource, type ResourceDefinition } from '../../registry/resource-definition.js';
import { withMatchDefaults } from '../admissionpolicies/match-resources.js';
import { age, column } from '../columns.js';
import { reservedNameWarnings } from '../webhookconfigurations/validate.js';
import { validatingAdmissionPolicySchema } from './schema.js';
import { statusViolations } from './status.js';
import { policyViolations } from './validate.js';

/** `group/version/Kind`. */
const kindText = ({ spec }: ValidatingAdmissionPolicy): string =>
  spec?.paramKind ? `${spec.paramKind.apiVersion ?? ''}/${spec.paramKind.kind ?? ''}` : '<unset>';

export const validatingAdmissionPolicies: ResourceDefinition<ValidatingAdmissionPolicy> =
  defineResource<ValidatingAdmissionPolicy>({
    ...ValidatingAdmissionPolicies,
    origin: 'built-in',
    anyFinalizer: true,
    schema: validatingAdmissionPolicySchema,
    checksMetadata: 'as if new',
    nameRule: nameRules.dnsSubdomain,
    resetFields: [['status']],
    newGeneration: (next, previous) => !isDeepStrictEqual(next.spec ?? {}, previous.spec ?? {}),
    columns: [
      column(
        'Validations',
        'Validations indicates the number of validation rules defined in this configuration',
        ({ spec }: ValidatingAdmissionPolicy) => spec?.validations?.length ?? 0,
        { type: 'integer' },
      ),
      column('ParamKind', 'ParamKind specifies the kind of resources used to parameterize this policy', kindText),
      age,
    ],
    defaults: ({ spec, ...rest }) => ({
      ...rest,
      spec: {
        ...spec,
        ...(spec?.matchConstraints ? { matchConstraints: withMatchDefaults(spec.matchConstraints) } : {}),
        failurePolicy: spec?.failurePolicy ?? 'Fail',
      },
    }),
    prepare: ({ status: _, ...next }, previous) =>
      previous?.status === undefined ? next : { ...next, status: previous.status },
    validate: policyViolations,
    warnings: reservedNameWarnings,
    subresources: {
      status: {
        type: 'view',
        checksMetadata: 'never',
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
