import type { ApiObject } from '../api/object.js';
import type { AdmissionAttributes, AdmissionStep } from './admission-step.js';

/** Every mutation in order, each seeing what the ones before made of the object. Answers the object to go on with. */
export async function runMutating(
  steps: readonly AdmissionStep[],
  attributes: AdmissionAttributes & { readonly object: ApiObject },
): Promise<ApiObject> {
  let seen = attributes;
  for (const step of steps) {
    if (step.mutate === undefined || !step.handles(seen)) continue;
    const object = await step.mutate(seen);
    if (object !== seen.object) seen = { ...seen, object };
  }
  return seen.object;
}

/** Every validation in order; none sees an object that another may still change. */
export async function runValidating(steps: readonly AdmissionStep[], attributes: AdmissionAttributes): Promise<void> {
  for (const step of steps) {
    if (step.validate !== undefined && step.handles(attributes)) await step.validate(attributes);
  }
}
