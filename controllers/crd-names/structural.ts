import { removeCondition } from '../../src/api/conditions.js';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionStatus,
} from '../../src/api/kinds/custom-resource-definition.js';

const type = 'NonStructuralSchema';

/**
 * Returns the status without the condition NonStructuralSchema. A definition from an older cluster may have it; only
 * one that preserves unknown fields can have a schema that is not structural.
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
