import { setCondition } from '../../src/api/conditions.js';
import { isWithinDomain } from '../../src/api/domains.js';
import { quote } from '../../src/api/go-text.js';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionStatus,
} from '../../src/api/kinds/custom-resource-definition.js';

const annotation = 'api-approved.kubernetes.io';
const type = 'KubernetesAPIApprovalPolicyConformant';

/** Groups that belong to the Kubernetes community. */
const isProtected = (group: string): boolean =>
  ['k8s.io', 'kubernetes.io'].some((domain) => isWithinDomain(group, domain));

/** The status with what the approval annotation says; other groups have no such condition. */
export function withApiApproval(
  { spec, metadata }: CustomResourceDefinition,
  status: CustomResourceDefinitionStatus,
  now: string,
): CustomResourceDefinitionStatus {
  if (!isProtected(spec.group)) return status;
  const conditions = setCondition(status.conditions, approval(metadata.annotations?.[annotation]), now);
  return conditions === status.conditions ? status : { ...status, conditions };
}

function approval(value: string | undefined): CustomResourceDefinitionCondition {
  if (value === undefined || value === '') {
    return {
      type,
      status: 'False',
      reason: 'MissingAnnotation',
      message: `protected groups must have approval annotation ${quote(annotation)}, see https://github.com/kubernetes/enhancements/pull/1111`,
    };
  }
  if (value.startsWith('unapproved')) {
    return { type, status: 'False', reason: 'UnapprovedAnnotation', message: `not approved: ${quote(value)}` };
  }
  if (isUrl(value)) return { type, status: 'True', reason: 'ApprovedAnnotation', message: `approved in ${value}` };
  return {
    type,
    status: 'False',
    reason: 'InvalidAnnotation',
    message: `protected groups must have approval annotation ${quote(annotation)} with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111`,
  };
}

function isUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && url.host !== '' && url.protocol !== '';
}
