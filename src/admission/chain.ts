import type { ApiObject } from '../api/object.js';
import type { AdmissionMetrics, AdmissionPhase } from './admission-metrics.js';
import type { AdmissionAttributes, AdmissionStep, ReinvocationContext, WriteAttributes } from './admission-step.js';

type Hook = 'mutate' | 'validate' | 'beforeDeletion' | 'beforeCreation';
type StepWith<H extends Hook> = AdmissionStep & Required<Pick<AdmissionStep, H>>;

const stepsWith = <H extends Hook>(hook: H, steps: readonly AdmissionStep[]): readonly StepWith<H>[] =>
  steps.filter((step): step is StepWith<H> => step[hook] !== undefined);

/** The steps of admission, in their order. */
export class AdmissionChain {
  readonly #mutating: readonly StepWith<'mutate'>[];
  readonly #validating: readonly StepWith<'validate'>[];
  readonly #beforeDeletion: readonly StepWith<'beforeDeletion'>[];
  readonly #beforeCreation: readonly StepWith<'beforeCreation'>[];
  readonly #metrics: AdmissionMetrics | undefined;

  constructor(unmeasured: readonly AdmissionStep[], metrics?: AdmissionMetrics) {
    const steps = metrics === undefined ? unmeasured : unmeasured.map((step) => measured(step, metrics));
    this.#mutating = stepsWith('mutate', steps);
    this.#validating = stepsWith('validate', steps);
    this.#beforeDeletion = stepsWith('beforeDeletion', steps);
    this.#beforeCreation = stepsWith('beforeCreation', steps);
    this.#metrics = metrics;
  }

  /**
   * Runs every mutation in order on the result of the previous ones, and all of them once more if one requests it.
   * Returns the resulting object.
   */
  mutate(attributes: WriteAttributes): Promise<ApiObject> {
    return this.#during('admit', attributes, async () => {
      let repeats = false;
      const requestReinvocation = (): void => {
        repeats = true;
      };
      const memory: ReinvocationContext['memory'] = new Map();
      const first = await this.#round(attributes, { round: 0, requestReinvocation, memory });
      return repeats ? this.#round({ ...attributes, object: first }, { round: 1, requestReinvocation, memory }) : first;
    });
  }

  /** Runs admission of a deletion: first the mutating steps, then the validating ones. */
  async admitDeletion(attributes: AdmissionAttributes): Promise<void> {
    await this.#during('admit', attributes, async () => {
      for (const step of this.#beforeDeletion) {
        if (step.handles(attributes)) await step.beforeDeletion(attributes);
      }
    });
    await this.validate(attributes);
  }

  /** Runs every validation in order, on the final object. */
  validate(attributes: AdmissionAttributes): Promise<void> {
    return this.#during('validate', attributes, async () => {
      for (const step of this.#validating) {
        if (step.handles(attributes)) await step.validate(attributes);
      }
    });
  }

  /** Runs the last checks before a new object is stored. */
  async beforeCreation(attributes: AdmissionAttributes): Promise<void> {
    for (const step of this.#beforeCreation) {
      if (step.handles(attributes)) await step.beforeCreation(attributes);
    }
  }

  async #round(attributes: WriteAttributes, rounds: ReinvocationContext): Promise<ApiObject> {
    let seen = attributes;
    for (const step of this.#mutating) {
      if (!step.handles(seen)) continue;
      const object = await step.mutate(seen, rounds);
      if (object !== seen.object) seen = { ...seen, object };
    }
    return seen.object;
  }

  #during<T>(phase: AdmissionPhase, { operation }: AdmissionAttributes, act: () => Promise<T>): Promise<T> {
    return this.#metrics === undefined ? act() : this.#metrics.phase(phase, operation, act);
  }
}

/** Wraps a step to measure its time. */
function measured(step: AdmissionStep, metrics: AdmissionMetrics): AdmissionStep {
  const { name, mutate, beforeDeletion, validate } = step;
  return {
    ...step,
    ...(mutate && {
      mutate: (attributes, rounds) =>
        metrics.step(name, 'admit', attributes.operation, () => mutate.call(step, attributes, rounds)),
    }),
    ...(beforeDeletion && {
      beforeDeletion: (attributes) =>
        metrics.step(name, 'admit', attributes.operation, () => beforeDeletion.call(step, attributes)),
    }),
    ...(validate && {
      validate: (attributes) =>
        metrics.step(name, 'validate', attributes.operation, () => validate.call(step, attributes)),
    }),
  };
}
