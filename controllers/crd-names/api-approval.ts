import { approvalOf } from '../../src/api/api-approval.js';
import { setCondition } from '../../src/api/conditions.js';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionStatus,
} from '../../src/api/kinds/custom-resource-definition.js';

const reasons = {
  missing: 'MissingAnnotation',
  bypassed: 'UnapprovedAnnotation',
  approved: 'ApprovedAnnotation',
  invalid: 'InvalidAnnotation',
} as const;

/**
 * Returns the status with the condition for the approval annotation; groups that need no approval have no such
 * condition.
 */
export function withApiApproval(
  { spec, metadata }: CustomResourceDefinition,
  status: CustomResourceDefinitionStatus,
  now: string,
): CustomResourceDefinitionStatus {
  const approval = approvalOf(spec.group, metadata.annotations);
  if (approval === undefined) return status;
  const { state, reason: message } = approval;
  const condition = {
    type: 'KubernetesAPIApprovalPolicyConformant',
    status: state === 'approved' ? 'True' : 'False',
    reason: reasons[state],
    message,
  } as const;
  const conditions = setCondition(status.conditions, condition, now);
  return conditions === status.conditions ? status : { ...status, conditions };
}
