import { removeCondition } from '../../src/api/conditions.js';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionStatus,
} from '../../src/api/kinds/custom-resource-definition.js';

const type = 'NonStructuralSchema';

/**
 * The status without the complaint that a schema is not structural. A definition that comes from an older cluster may
 * have it; only where it preserves unknown fields can there be a schema to complain about.
 */
export function withoutNonStructural(
  { spec }: CustomResourceDefinition,
  status: CustomResourceDefinitionStatus,
): CustomResourceDefinitionStatus {
  if (spec.preserveUnknownFields === true) return status;
  const before = status.conditions ?? [];
  const conditions = removeCondition(before, type);
  return conditions === before ? status : { ...status, conditions };
}
