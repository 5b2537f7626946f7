import type { WriteAttributes } from '../../admission/admission-step.js';
import type { ApiObject } from '../../api/object.js';
import { managedFieldsProblem } from '../../apply/managed-fields.js';
import type { Parts } from '../parts.js';

/** Runs mutating admission and returns the object; invalid entries of managedFields in the result are reverted. */
export async function runMutatingAdmission(
  { admission }: Pick<Parts, 'admission'>,
  attributes: WriteAttributes,
): Promise<ApiObject> {
  const before = attributes.object.metadata.managedFields;
  const object = await admission.mutate(attributes);
  if (object.metadata.managedFields === before) return object;
  const { managedFields, ...metadata } = object.metadata;
  const problem = managedFieldsProblem(managedFields);
  if (problem === undefined) return object;
  attributes.warn(
    `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${problem}`,
  );
  return { ...object, metadata: before === undefined ? metadata : { ...metadata, managedFields: before } };
}
