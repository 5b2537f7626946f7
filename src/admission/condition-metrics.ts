import type { Metrics } from '../runtime/metrics.js';
import type { AdmissionAttributes } from './admission-step.js';
import type { ConditionsVerdict } from './expression-list.js';

/** Records the result of the match conditions of a webhook or policy. */
export type ConditionMetrics = (judgement: {
  /** The name of the webhook or policy. */
  readonly name: string;
  readonly kind: 'webhook' | 'policy';
  /** The type of admission; for policies always `validate`, as in Kubernetes. */
  readonly type: 'admit' | 'validating' | 'validate';
  readonly operation: AdmissionAttributes['operation'];
  readonly seconds: number;
  readonly verdict: ConditionsVerdict;
}) => void;

/** The labels of all metrics of match conditions. */
export const conditionLabels = ['name', 'kind', 'type', 'operation'] as const;

/** Returns the metrics of kube-apiserver about match conditions. As there, conditions that are met are not timed. */
export function conditionMetrics(metrics: Metrics): ConditionMetrics {
  const seconds = metrics.histogram({
    name: 'apiserver_admission_match_condition_evaluation_seconds',
    help: 'Time taken to evaluate match conditions that excluded the request, in seconds.',
    labels: conditionLabels,
    buckets: [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25],
  });
  const errors = metrics.counter({
    name: 'apiserver_admission_match_condition_evaluation_errors_total',
    help: 'Match conditions whose evaluation failed.',
    labels: conditionLabels,
  });
  return ({ name, kind, type, operation, verdict, ...judgement }) => {
    const labels = { name, kind, type, operation };
    if (!('holds' in verdict) || !verdict.holds) seconds.observe(labels, judgement.seconds);
    if (verdict.errors > 0) errors.add(labels, verdict.errors);
  };
}
