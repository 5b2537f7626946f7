import type { ApiObject } from '../api/object.js';
import type { AdmissionAttributes, AdmissionStep, Rounds } from './admission-step.js';

/**
 * Every mutation in order, each seeing what the ones before made of the object; all of them once more if one asks for
 * it. Answers the object to go on with.
 */
export async function runMutating(
  steps: readonly AdmissionStep[],
  attributes: AdmissionAttributes & { readonly object: ApiObject },
): Promise<ApiObject> {
  let repeats = false;
  const again = (): void => {
    repeats = true;
  };
  const memory: Rounds['memory'] = new Map();
  const first = await runRound(steps, attributes, { current: 0, again, memory });
  if (!repeats) return first;
  return runRound(steps, { ...attributes, object: first }, { current: 1, again, memory });
}

async function runRound(
  steps: readonly AdmissionStep[],
  attributes: AdmissionAttributes & { readonly object: ApiObject },
  rounds: Rounds,
): Promise<ApiObject> {
  let seen = attributes;
  for (const step of steps) {
    if (step.mutate === undefined || !step.handles(seen)) continue;
    const object = await step.mutate(seen, rounds);
    if (object !== seen.object) seen = { ...seen, object };
  }
  return seen.object;
}

/** Everybody who is to see a deletion: first those who could change what is written, then those who judge. */
export async function runDeletion(steps: readonly AdmissionStep[], attributes: AdmissionAttributes): Promise<void> {
  for (const step of steps) {
    if (step.beforeDeletion !== undefined && step.handles(attributes)) await step.beforeDeletion(attributes);
  }
  await runValidating(steps, attributes);
}

/** Every validation in order; none sees an object that another may still change. */
export async function runValidating(steps: readonly AdmissionStep[], attributes: AdmissionAttributes): Promise<void> {
  for (const step of steps) {
    if (step.validate !== undefined && step.handles(attributes)) await step.validate(attributes);
  }
}

/** Everybody who looks once more before something new is stored. */
export async function runBeforeCreation(
  steps: readonly AdmissionStep[],
  attributes: AdmissionAttributes,
): Promise<void> {
  for (const step of steps) {
    if (step.beforeCreation !== undefined && step.handles(attributes)) await step.beforeCreation(attributes);
  }
}
